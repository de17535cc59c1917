// Package metrics has the metrics of addon-manager. A series exists only while its
// object does.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Names of the metrics of addon-manager. Those on facts are in facts.go.
const (
	NameUnsatisfied   = "interlock_unsatisfied_dependencies"
	NameWrites        = "interlock_condition_writes_total"
	NameEvaluation    = "interlock_evaluation_duration_seconds"
	NameInvalid       = "interlock_declaration_problems"
	NameContested     = "interlock_contested_conditions_total"
	NameEventsLeftOut = "interlock_events_left_out_total"
)

// Help maps the name of every metric of addon-manager to its meaning.
var Help = map[string]string{
	NameUnsatisfied:   "Managed clusters on which an add-on's dependency is not satisfied, by dependent, dependency, type and verdict.",
	NameWrites:        "Writes of the Degraded condition, by add-on, the reason written and the result (success, conflict or error).",
	NameEvaluation:    "Time to load and evaluate the dependencies of one add-on on one cluster, without writing.",
	NameInvalid:       "Problems in an add-on's declared dependencies, by add-on and problem.",
	NameContested:     "Times that Degraded was written again because another writer keeps overwriting it, by add-on.",
	NameEventsLeftOut: "Transitions of Degraded without an event, because there were too many at once.",
	NameFactsClusters: HelpFactsClusters,
	NameFactsWrites:   HelpFactsWrites,
}

// WriteResult is how a write of a condition ended.
type WriteResult string

// The results of a write.
const (
	WriteSuccess  WriteResult = "success"
	WriteConflict WriteResult = "conflict"
	WriteError    WriteResult = "error"
)

// Metrics records what the hub controllers do.
type Metrics struct {
	unsatisfied *unsatisfiedEdges
	writes      *prometheus.CounterVec
	evaluation  prometheus.Histogram
	problems    *prometheus.GaugeVec
	contested   *prometheus.CounterVec
	leftOut     prometheus.Counter
	facts       *factsMetrics

	mutex      sync.Mutex
	registered map[string]bool
}

// New registers all metrics with the registry; it panics when one of the names
// is taken, which only a programming error can cause.
func New(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		unsatisfied: newUnsatisfiedEdges(),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: NameWrites, Help: Help[NameWrites]},
			[]string{"addon", "reason", "result"}),
		evaluation: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: NameEvaluation, Help: Help[NameEvaluation],
			Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10),
		}),
		problems: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameInvalid, Help: Help[NameInvalid]},
			[]string{"addon", "problem"}),
		contested: prometheus.NewCounterVec(prometheus.CounterOpts{Name: NameContested, Help: Help[NameContested]},
			[]string{"addon"}),
		leftOut: prometheus.NewCounter(prometheus.CounterOpts{Name: NameEventsLeftOut, Help: Help[NameEventsLeftOut]}),
		facts:   newFactsMetrics(registry),
	}
	registry.MustRegister(m.unsatisfied, m.writes, m.evaluation, m.problems, m.contested, m.leftOut)
	return m
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
