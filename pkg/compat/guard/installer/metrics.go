package installer

import "github.com/prometheus/client_golang/prometheus"

// Form is the form of the guard that is in force.
type Form string

// The forms, as the metric names them.
const (
	FormPolicy  Form = "policy"
	FormWebhook Form = "webhook"
	// FormUnproven is a form that is installed, without an add-on to probe it with.
	FormUnproven Form = "unproven"
	FormNone     Form = "none"
)

// Forms are all forms.
var Forms = []Form{FormPolicy, FormWebhook, FormUnproven, FormNone}

// Name and meaning of the guard's metric.
const (
	NameGuard = "interlock_guard"
	HelpGuard = "1 for the form of the guard that the hub was last observed to act on; reported by the leader."
)

// Metrics reports the form of the guard to Prometheus.
type Metrics struct {
	guard *prometheus.GaugeVec
}

// NewMetrics registers the metric. It panics when its name is taken, which only
// a programming error can cause.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{guard: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameGuard, Help: HelpGuard}, []string{"form"})}
	registry.MustRegister(m.guard)
	return m
}

func (m *Metrics) inForce(form Form) {
	m.guard.Reset()
	m.guard.WithLabelValues(string(form)).Set(1)
}
