package installation

import (
	"github.com/prometheus/client_golang/prometheus"

	"open-cluster-management.io/interlock/pkg/dependency/installation"
)

// The names of the metrics.
const (
	NameInstallations = "interlock_installations_total"
	NameWaiting       = "interlock_waiting_installations"
	NameRemovals      = "interlock_removals_total"
	NameKept          = "interlock_waiting_removals"
)

// Help describes the metrics, by name.
var Help = map[string]string{
	NameInstallations: "Installations of an add-on on a managed cluster, because other add-ons need it, by add-on.",
	NameWaiting:       "Installations of an add-on on managed clusters that wait, by add-on and by what for: approval, budget or given_up.",
	NameRemovals:      "Removals of an add-on from a managed cluster, because no other add-on needs it any more, by add-on.",
	NameKept:          "Removals of an add-on from managed clusters that wait, by add-on and by what for: delay, approval, budget or given_up.",
}

const (
	labelAddOn = "addon"
	labelFor   = "for"
)

// Metrics are those of installations and of removals.
type Metrics struct {
	installed, removed *prometheus.CounterVec
	waiting, kept      *prometheus.GaugeVec
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	counter := func(name string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: Help[name]}, []string{labelAddOn})
	}
	gauge := func(name string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: Help[name]}, []string{labelAddOn, labelFor})
	}
	m := &Metrics{counter(NameInstallations), counter(NameRemovals), gauge(NameWaiting), gauge(NameKept)}
	registry.MustRegister(m.installed, m.removed, m.waiting, m.kept)
	return m
}

// Installed counts an installation.
func (m *Metrics) Installed(addOn string) { m.installed.WithLabelValues(addOn).Inc() }

// Removed counts a removal.
func (m *Metrics) Removed(addOn string) { m.removed.WithLabelValues(addOn).Inc() }

// Wait sets what waits by a plan of installations.
func (m *Metrics) Wait(plan installation.Plan) { wait(m.waiting, plan) }

// Keep sets what waits by a plan of removals.
func (m *Metrics) Keep(plan installation.RemovalPlan) {
	wait(m.kept, plan.Plan)
	for _, target := range plan.Kept {
		m.kept.WithLabelValues(target.AddOn, "delay").Inc()
	}
}

func wait(waiting *prometheus.GaugeVec, plan installation.Plan) {
	waiting.Reset()
	for addOn, clusters := range plan.Unapproved {
		waiting.WithLabelValues(addOn, "approval").Set(float64(clusters))
	}
	for _, target := range plan.Delayed {
		waiting.WithLabelValues(target.AddOn, "budget").Inc()
	}
	for _, target := range plan.GivenUp {
		waiting.WithLabelValues(target.AddOn, "given_up").Inc()
	}
}
