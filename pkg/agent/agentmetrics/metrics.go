// Package agentmetrics has the Prometheus metrics of addon-agent. A series exists only while
// its object does.
package agentmetrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Names of the metrics of addon-agent.
const (
	NameWrites       = "interlock_agent_condition_writes_total"
	NameContested    = "interlock_agent_contested_conditions_total"
	NameLeases       = "interlock_agent_leases_watched"
	NameSkew         = "interlock_agent_lease_skew_seconds"
	NameFactsWrites  = "interlock_agent_facts_writes_total"
	NameFactsUnknown = "interlock_agent_facts_unknown"
)

// Help maps the name of every metric of addon-agent to its meaning.
var Help = map[string]string{
	NameWrites:       "Writes of the Available condition, by add-on, the status and reason written and the result (success, conflict or error).",
	NameContested:    "Times that Available was written again because another writer keeps overwriting it, by add-on.",
	NameLeases:       "Leases that are watched, by add-on and cluster (managed or hosting): 1 once its API server has responded, 0 until then.",
	NameSkew:         "How far an add-on's lease was renewed in the future, where that is more than the grace period: the add-on's clock or addon-agent's is wrong.",
	NameFactsWrites:  "Writes of the status of ManagedClusterFacts, by result (success, conflict or error).",
	NameFactsUnknown: "Facts that the hub requests and addon-agent does not know, by what they are about (api, version or objects) and reason.",
}

const labelAddOn = "addon"

// leasePlaces are the values of the label cluster.
var leasePlaces = []string{"managed", "hosting"}

// WriteResult is the result of a write of a condition.
type WriteResult string

// The results of a write.
const (
	WriteSuccess  WriteResult = "success"
	WriteConflict WriteResult = "conflict"
	WriteError    WriteResult = "error"
)

// Metrics records the agent's writes, watches and reports.
type Metrics struct {
	writes       *prometheus.CounterVec
	contested    *prometheus.CounterVec
	leases       *prometheus.GaugeVec
	skew         *prometheus.GaugeVec
	factsWrites  *prometheus.CounterVec
	factsUnknown *prometheus.GaugeVec
}

// New registers all metrics with the registry. It panics when a name is taken, which is
// a programming error.
func New(registry prometheus.Registerer) *Metrics {
	counter := func(name string, labels ...string) *prometheus.CounterVec {
		return promauto.With(registry).NewCounterVec(prometheus.CounterOpts{Name: name, Help: Help[name]}, labels)
	}
	gauge := func(name string, labels ...string) *prometheus.GaugeVec {
		return promauto.With(registry).NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: Help[name]}, labels)
	}
	return &Metrics{
		writes:       counter(NameWrites, labelAddOn, "status", "reason", "result"),
		contested:    counter(NameContested, labelAddOn),
		leases:       gauge(NameLeases, labelAddOn, "cluster"),
		skew:         gauge(NameSkew, labelAddOn),
		factsWrites:  counter(NameFactsWrites, "result"),
		factsUnknown: gauge(NameFactsUnknown, "about", "reason"),
	}
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
	for _, place := range leasePlaces {
		if place != cluster {
			m.leases.DeleteLabelValues(addOn, place)
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

// Skewed records how far in the future a lease was renewed. It is zero if it was not.
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

// FactsWrote counts one write of the status.
func (m *Metrics) FactsWrote(result WriteResult) { m.factsWrites.WithLabelValues(string(result)).Inc() }

// FactsReported records which facts are unknown.
func (m *Metrics) FactsReported(status dependencyv1alpha1.ManagedClusterFactsStatus) {
	m.factsUnknown.Reset()
	for _, fact := range status.APIs {
		if fact.Served == metav1.ConditionUnknown || slices.ContainsFunc(fact.Fields, fieldUnknown) {
			m.factsUnknown.WithLabelValues("api", string(fact.Reason)).Inc()
		}
	}
	for _, fact := range status.AddOns {
		if fact.Version == "" {
			m.factsUnknown.WithLabelValues("version", string(fact.Reason)).Inc()
		}
	}
	for _, fact := range status.Objects {
		if fact.Count == nil {
			m.factsUnknown.WithLabelValues("objects", string(fact.Reason)).Inc()
		}
	}
}

func fieldUnknown(field dependencyv1alpha1.FieldFact) bool {
	return field.Found == metav1.ConditionUnknown
}

// ForgetFacts records that nothing is requested.
func (m *Metrics) ForgetFacts() { m.factsUnknown.Reset() }
