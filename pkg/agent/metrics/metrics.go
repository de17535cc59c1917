// Package metrics has the Prometheus metrics of addon-agent. A series exists only while
// its object does.
package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Names and meanings of all metrics of addon-agent.
const (
	NameWrites = "interlock_agent_condition_writes_total"
	HelpWrites = "Writes of the Available condition, by add-on, the status and reason written and the result (success, conflict or error)."

	NameContested = "interlock_agent_contested_conditions_total"
	HelpContested = "Times that Available was written again because another writer keeps overwriting it, by add-on."

	NameLeases = "interlock_agent_leases_watched"
	HelpLeases = "Leases that are watched, by add-on and cluster (managed or hosting): 1 once its API server has responded, 0 until then."

	NameSkew = "interlock_agent_lease_skew_seconds"
	HelpSkew = "How far an add-on's lease was renewed in the future, where that is more than the grace period: the add-on's clock or addon-agent's is wrong."
)

// Help maps the name of every metric of addon-agent to its meaning.
var Help = map[string]string{
	NameWrites:    HelpWrites,
	NameContested: HelpContested,
	NameLeases:    HelpLeases,
	NameSkew:      HelpSkew,

	NameFactsWrites:  HelpFactsWrites,
	NameFactsUnknown: HelpFactsUnknown,
}

// Names lists every metric of addon-agent, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(Help))
}

const labelAddOn = "addon"

// leasePlaces are the values of the label cluster.
var leasePlaces = []string{"managed", "hosting"}

// WriteResult is how a write of a condition ended.
type WriteResult string

// The results of a write.
const (
	WriteSuccess  WriteResult = "success"
	WriteConflict WriteResult = "conflict"
	WriteError    WriteResult = "error"
)

// Metrics records what the agent does.
type Metrics struct {
	writes    *prometheus.CounterVec
	contested *prometheus.CounterVec
	leases    *prometheus.GaugeVec
	skew      *prometheus.GaugeVec
	facts     factsMetrics
}

// New registers all metrics with the registry. It panics when a name is taken, which is
// a programming error.
func New(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: NameWrites, Help: HelpWrites},
			[]string{labelAddOn, "status", "reason", "result"}),
		contested: prometheus.NewCounterVec(prometheus.CounterOpts{Name: NameContested, Help: HelpContested},
			[]string{labelAddOn}),
		leases: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameLeases, Help: HelpLeases},
			[]string{labelAddOn, "cluster"}),
		skew: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameSkew, Help: HelpSkew},
			[]string{labelAddOn}),
		facts: newFactsMetrics(registry),
	}
	registry.MustRegister(m.writes, m.contested, m.leases, m.skew)
	return m
}

// Wrote counts one write of an add-on's Available.
func (m *Metrics) Wrote(addOn string, condition metav1.Condition, result WriteResult) {
	m.writes.WithLabelValues(addOn, string(condition.Status), condition.Reason, string(result)).Inc()
}

// Contested counts one write that followed another writer's, not for the first time.
func (m *Metrics) Contested(addOn string) {
	m.contested.WithLabelValues(addOn).Inc()
}

// LeaseWatched records that an add-on's lease is watched on this cluster alone, and
// whether its API server has responded.
func (m *Metrics) LeaseWatched(addOn, cluster string, responded bool) {
	for _, other := range leasePlaces {
		if other != cluster {
			m.leases.DeleteLabelValues(addOn, other)
		}
	}
	value := 0.0
	if responded {
		value = 1
	}
	m.leases.WithLabelValues(addOn, cluster).Set(value)
}

// LeaseUnwatched records that no lease of the add-on is watched.
func (m *Metrics) LeaseUnwatched(addOn string) {
	m.leases.DeletePartialMatch(prometheus.Labels{labelAddOn: addOn})
}

// Skewed records how far in the future a lease was renewed; zero if it was not.
func (m *Metrics) Skewed(addOn string, ahead time.Duration) {
	if ahead == 0 {
		m.skew.DeleteLabelValues(addOn)
		return
	}
	m.skew.WithLabelValues(addOn).Set(ahead.Seconds())
}

// Forget deletes all series of an add-on that was deleted.
func (m *Metrics) Forget(addOn string) {
	labels := prometheus.Labels{labelAddOn: addOn}
	for _, vector := range []*prometheus.MetricVec{m.writes.MetricVec, m.contested.MetricVec, m.leases.MetricVec, m.skew.MetricVec} {
		vector.DeletePartialMatch(labels)
	}
}
