package installer

import "github.com/prometheus/client_golang/prometheus"

// Form is the form of a rule that is in force.
type Form string

// The forms, as the metric names them.
const (
	FormPolicy  Form = "policy"
	FormWebhook Form = "webhook"
	// FormUnproven is a form that is installed, without an add-on to probe it with.
	FormUnproven Form = "unproven"
	FormNone     Form = "none"
)

// Forms has all forms.
var Forms = []Form{FormPolicy, FormWebhook, FormUnproven, FormNone}

// Names and meanings of the metrics, one for each rule.
const (
	NameGuard = "interlock_guard"
	HelpGuard = "1 for the form of the guard that the hub was last observed to act on; reported by the leader."
	NameGate  = "interlock_gate_rule"
	HelpGate  = "1 for the form of the gate rule that the hub was last observed to act on; reported by the leader with --lifecycle."
)

// Metrics reports the form of a rule to Prometheus.
type Metrics struct {
	form *prometheus.GaugeVec
}

// NewMetrics registers the metric of the guard. It panics if its name is taken, which only a programming error can cause.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	return newMetrics(registry, NameGuard, HelpGuard)
}

// NewGateMetrics registers the metric of the gate rule. It panics like NewMetrics.
func NewGateMetrics(registry prometheus.Registerer) *Metrics {
	return newMetrics(registry, NameGate, HelpGate)
}

func newMetrics(registry prometheus.Registerer, name, help string) *Metrics {
	m := &Metrics{form: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"form"})}
	registry.MustRegister(m.form)
	return m
}

func (m *Metrics) inForce(form Form) {
	if m == nil {
		return
	}
	m.form.Reset()
	m.form.WithLabelValues(string(form)).Set(1)
}
