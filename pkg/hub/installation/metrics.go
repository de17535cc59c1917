package installation

import (
	"github.com/prometheus/client_golang/prometheus"

	"open-cluster-management.io/interlock/pkg/dependency/installation"
)

// The names of the metrics.
const (
	NameInstallations = "interlock_installations_total"
	NameWaiting       = "interlock_waiting_installations"
)

// Help describes the metrics, by name.
var Help = map[string]string{
	NameInstallations: "Installations of an add-on on a managed cluster, because other add-ons need it, by add-on.",
	NameWaiting:       "Installations of an add-on on managed clusters that wait, by add-on and by what for: approval, budget or given_up.",
}

const (
	labelAddOn = "addon"
	labelFor   = "for"
)

// Metrics are those of installations.
type Metrics struct {
	installed *prometheus.CounterVec
	waiting   *prometheus.GaugeVec
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		installed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: NameInstallations, Help: Help[NameInstallations]}, []string{labelAddOn}),
		waiting:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameWaiting, Help: Help[NameWaiting]}, []string{labelAddOn, labelFor}),
	}
	registry.MustRegister(m.installed, m.waiting)
	return m
}

// Installed counts an installation.
func (m *Metrics) Installed(addOn string) { m.installed.WithLabelValues(addOn).Inc() }

// Wait sets what waits by a plan.
func (m *Metrics) Wait(plan installation.Plan) {
	m.waiting.Reset()
	for addOn, clusters := range plan.Unapproved {
		m.waiting.WithLabelValues(addOn, "approval").Set(float64(clusters))
	}
	for _, target := range plan.Delayed {
		m.waiting.WithLabelValues(target.AddOn, "budget").Inc()
	}
	for _, target := range plan.GivenUp {
		m.waiting.WithLabelValues(target.AddOn, "given_up").Inc()
	}
}
