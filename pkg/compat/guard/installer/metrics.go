package installer

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Form is what guards a hub.
type Form string

// The forms, as the metric names them.
const (
	FormPolicy  Form = "policy"
	FormWebhook Form = "webhook"
	// FormUnproven: there is no add-on yet to find out with.
	FormUnproven Form = "unproven"
	FormNone     Form = "none"
)

// Forms are all forms.
var Forms = []Form{FormPolicy, FormWebhook, FormUnproven, FormNone}

// Name and meaning of the guard's metric.
const (
	NameGuard = "interlock_guard"
	HelpGuard = "1 for the form of the guard that the hub was last seen to act on; told by the leader."
)

// Metrics tells Prometheus what guards the hub.
type Metrics struct {
	guard *prometheus.GaugeVec
}

// NewMetrics registers the metric; it panics when its name is taken, which only
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
