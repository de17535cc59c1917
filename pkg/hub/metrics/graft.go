package metrics

import "github.com/prometheus/client_golang/prometheus"

// Names and meanings of the metrics of the CRD graft.
const (
	NameGrafted = "interlock_crd_grafted"
	HelpGrafted = "Whether the CRD of ClusterManagementAddOns has Interlock's fields (1) or not (0), by the reason; told by the leader."

	NameGraftContested = "interlock_crd_graft_contested_total"
	HelpGraftContested = "Times that the CRD was grafted again because somebody else keeps overwriting it."
)

// Graft records what becomes of the CRD.
type Graft struct {
	state     *prometheus.GaugeVec
	contested prometheus.Counter
}

// NewGraft registers the metrics with the registry; it panics when one of the
// names is taken, which only a programming error can cause.
func NewGraft(registry prometheus.Registerer) *Graft {
	g := &Graft{
		state:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameGrafted, Help: HelpGrafted}, []string{"reason"}),
		contested: prometheus.NewCounter(prometheus.CounterOpts{Name: NameGraftContested, Help: HelpGraftContested}),
	}
	registry.MustRegister(g.state, g.contested)
	return g
}

// State replaces what is known of the CRD.
func (g *Graft) State(reason string, grafted bool) {
	g.state.Reset()
	value := 0.0
	if grafted {
		value = 1
	}
	g.state.WithLabelValues(reason).Set(value)
}

// Contested counts one graft that somebody who keeps overwriting made necessary.
func (g *Graft) Contested() { g.contested.Inc() }
