// Package metrics has the metrics of addon-manager. A series exists only while its
// object does.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Names of the metrics of addon-manager.
const (
	NameUnsatisfied   = "interlock_unsatisfied_dependencies"
	NameWrites        = "interlock_condition_writes_total"
	NameEvaluation    = "interlock_evaluation_duration_seconds"
	NameInvalid       = "interlock_declaration_problems"
	NameContested     = "interlock_contested_conditions_total"
	NameEventsLeftOut = "interlock_events_left_out_total"
	NameFactsClusters = "interlock_facts_clusters"
	NameFactsWrites   = "interlock_facts_writes_total"
)

// Help maps the name of every metric of addon-manager to its meaning.
var Help = map[string]string{
	NameUnsatisfied:   "Managed clusters on which an add-on's dependency is not satisfied, by dependent, dependency, type and verdict.",
	NameWrites:        "Writes of the Degraded condition, by add-on, the reason written and the result (success, conflict or error).",
	NameEvaluation:    "Time to load and evaluate the dependencies of one add-on on one cluster, without writing.",
	NameInvalid:       "Problems in an add-on's declared dependencies, by add-on and problem.",
	NameContested:     "Times that Degraded was written again because another writer keeps overwriting it, by add-on.",
	NameEventsLeftOut: "Transitions of Degraded without an event, because there were too many at once.",
	NameFactsClusters: "Managed clusters whose facts dependencies need, by progress: answered, waiting for addon-agent there, or not_served by the hub.",
	NameFactsWrites:   "Writes of what is requested of managed clusters, by result (success or error).",
}

// WriteResult is how a write of a condition ended.
type WriteResult string

// The results of a write.
const (
	WriteSuccess  WriteResult = "success"
	WriteConflict WriteResult = "conflict"
	WriteError    WriteResult = "error"
)

// FactsPhase is how far the facts that are needed of a cluster are reported.
type FactsPhase string

// The values of the label standing.
const (
	// FactsNone: no facts are needed.
	FactsNone      FactsPhase = ""
	FactsReported  FactsPhase = "answered"
	FactsWaiting   FactsPhase = "waiting"
	FactsNotServed FactsPhase = "not_served"
)

// Metrics records what the hub controllers do.
type Metrics struct {
	unsatisfied   unsatisfiedEdges
	writes        *prometheus.CounterVec
	evaluation    prometheus.Histogram
	problems      *prometheus.GaugeVec
	contested     *prometheus.CounterVec
	leftOut       prometheus.Counter
	factsClusters *prometheus.GaugeVec
	factsWrites   *prometheus.CounterVec

	mutex       sync.Mutex
	registered  map[string]bool
	factsPhases map[string]FactsPhase // by cluster
}

// New registers all metrics with the registry; it panics when one of the names
// is taken, which only a programming error can cause.
func New(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	counter := func(name string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: Help[name]}, labels)
	}
	gauge := func(name string, labels ...string) *prometheus.GaugeVec {
		return register.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: Help[name]}, labels)
	}
	return &Metrics{
		unsatisfied: unsatisfiedEdges{
			gauge:   gauge(NameUnsatisfied, "addon", "dependency", "type", "verdict"),
			byAddOn: map[types.NamespacedName][]edge{}, counts: map[edge]int{},
		},
		writes: counter(NameWrites, "addon", "reason", "result"),
		evaluation: register.NewHistogram(prometheus.HistogramOpts{
			Name: NameEvaluation, Help: Help[NameEvaluation], Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10),
		}),
		problems:      gauge(NameInvalid, "addon", "problem"),
		contested:     counter(NameContested, "addon"),
		leftOut:       register.NewCounter(prometheus.CounterOpts{Name: NameEventsLeftOut, Help: Help[NameEventsLeftOut]}),
		factsClusters: gauge(NameFactsClusters, "standing"),
		factsWrites:   counter(NameFactsWrites, "result"),
		factsPhases:   map[string]FactsPhase{},
	}
}

// Wrote counts one write of a registered add-on's Degraded.
func (m *Metrics) Wrote(addOn, reason string, result WriteResult) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.registered[addOn] {
		return
	}
	m.writes.WithLabelValues(addOn, reason, string(result)).Inc()
}

// Contested counts one write that is necessary because another writer keeps
// overwriting the condition.
func (m *Metrics) Contested(addOn string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.registered[addOn] {
		return
	}
	m.contested.WithLabelValues(addOn).Inc()
}

// EventLeftOut counts one transition without an event.
func (m *Metrics) EventLeftOut() { m.leftOut.Inc() }

// Evaluated records how long loading and evaluating took.
func (m *Metrics) Evaluated(took time.Duration) {
	m.evaluation.Observe(took.Seconds())
}

// Declared replaces the problems of an add-on's declaration.
func (m *Metrics) Declared(addOn string, problems []declaration.Problem) {
	m.problems.DeletePartialMatch(prometheus.Labels{"addon": addOn})
	for _, problem := range problems {
		m.problems.WithLabelValues(addOn, string(problem.Reason)).Inc()
	}
}

// Registered replaces the names of all registered add-ons. It deletes the series of
// those that are no longer registered, except their unsatisfied edges: these are
// deleted as each cluster is evaluated. Later writes of such add-ons are not
// counted, because nothing would delete their series again.
func (m *Metrics) Registered(addOns []string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	before := m.registered
	m.registered = make(map[string]bool, len(addOns))
	for _, addOn := range addOns {
		m.registered[addOn] = true
	}
	for addOn := range before {
		if !m.registered[addOn] {
			labels := prometheus.Labels{"addon": addOn}
			m.problems.DeletePartialMatch(labels)
			m.writes.DeletePartialMatch(labels)
			m.contested.DeletePartialMatch(labels)
		}
	}
}

// SetFacts sets how far the facts that are needed of a cluster are reported.
func (m *Metrics) SetFacts(cluster string, now FactsPhase) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	before := m.factsPhases[cluster]
	if before == now {
		return
	}
	if before != FactsNone {
		m.factsClusters.WithLabelValues(string(before)).Dec()
	}
	if now == FactsNone {
		delete(m.factsPhases, cluster)
		return
	}
	m.factsPhases[cluster] = now
	m.factsClusters.WithLabelValues(string(now)).Inc()
}

// FactsWrote counts one write of what is requested.
func (m *Metrics) FactsWrote(result WriteResult) { m.factsWrites.WithLabelValues(string(result)).Inc() }
