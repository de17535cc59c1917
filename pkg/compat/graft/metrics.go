package graft

import "github.com/prometheus/client_golang/prometheus"

// Names of the metrics of the CRD graft.
const (
	NameGrafted   = "interlock_crd_grafted"
	NameContested = "interlock_crd_graft_contested_total"
)

// Help maps the name of each metric to its meaning.
var Help = map[string]string{
	NameGrafted:   "Whether the CRD of ClusterManagementAddOns has Interlock's fields (1) or not (0), by the reason; reported by the leader.",
	NameContested: "Times that the CRD was grafted again because another writer keeps overwriting it.",
}

// Metrics reports the state of the CRD to Prometheus.
type Metrics struct {
	state     *prometheus.GaugeVec
	contested prometheus.Counter
	reason    string // the label of the series of state
}

// NewMetrics registers the metrics with the registry. It panics if a name is
// taken, which only a programming error can cause.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		state:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameGrafted, Help: Help[NameGrafted]}, []string{"reason"}),
		contested: prometheus.NewCounter(prometheus.CounterOpts{Name: NameContested, Help: Help[NameContested]}),
	}
	registry.MustRegister(m.state, m.contested)
	return m
}

// State sets the state of the CRD. It sets the new series before it deletes the old one, because a scrape may
// come at any time.
func (m *Metrics) State(reason string, grafted bool) {
	value := 0.0
	if grafted {
		value = 1
	}
	m.state.WithLabelValues(reason).Set(value)
	if m.reason != "" && m.reason != reason {
		m.state.DeleteLabelValues(m.reason)
	}
	m.reason = reason
}

// Contested counts a graft that was needed because another writer had overwritten the last one.
func (m *Metrics) Contested() { m.contested.Inc() }
