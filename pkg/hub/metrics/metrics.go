// Package metrics has the metrics of addon-manager. A series is deleted with its
// object.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Names of the metrics of addon-manager.
const (
	NameEdges         = "interlock_dependencies"
	NameUnsatisfied   = "interlock_unsatisfied_dependencies"
	NameHeld          = "interlock_held_dependencies"
	NameWaived        = "interlock_waived_dependencies"
	NameRequiring     = "interlock_requiring_clusters"
	NameRoots         = "interlock_root_causes"
	NameVictims       = "interlock_root_cause_victims"
	NameBlockers      = "interlock_platform_upgrade_blockers"
	NameReaction      = "interlock_reaction_duration_seconds"
	NameWrites        = "interlock_condition_writes_total"
	NameEvaluation    = "interlock_evaluation_duration_seconds"
	NameInvalid       = "interlock_declaration_problems"
	NameContested     = "interlock_contested_conditions_total"
	NameEventsLeftOut = "interlock_events_left_out_total"
	NameFactsClusters = "interlock_facts_clusters"
	NameFactsWrites   = "interlock_facts_writes_total"
	NameSilentAgents  = "interlock_silent_agents"
)

// Help maps the name of every metric of addon-manager to its meaning.
var Help = map[string]string{
	NameEdges:         "Managed clusters on which an add-on with the dependency is installed, by dependent, dependency and type.",
	NameUnsatisfied:   "Managed clusters on which an add-on's dependency is not satisfied, by dependent, dependency, type and verdict.",
	NameWaived:        "Managed clusters on which an AddOnDependencyPolicy waives an add-on's dependency, by dependent, dependency and type.",
	NameHeld:          "Managed clusters on which the verdict on an add-on's dependency is kept because nothing new is known, by dependent, dependency, type and that verdict.",
	NameRequiring:     "Managed clusters, except lost ones, on which an add-on requires this dependency, or conflicts with it.",
	NameRoots:         "Managed clusters, except lost ones, on which this dependency fails by itself and keeps add-ons from working, by dependency and verdict.",
	NameVictims:       "Add-ons that cannot work because this dependency fails by itself, directly or not, each counted once per managed cluster, except lost ones.",
	NameBlockers:      "Managed clusters, except lost ones, on which an add-on's requirements accept the version of Kubernetes there or of the hub's Open Cluster Management, but not its next minor version, by add-on and platform.",
	NameReaction:      "Time from the transition of a dependency's condition to the write of Degraded that follows it, by reaction (noticed, propagated or recovered).",
	NameWrites:        "Writes of the Degraded condition, by add-on, the reason written and the result (success, conflict or error).",
	NameEvaluation:    "Time to load and evaluate the dependencies of one add-on on one cluster, without writing.",
	NameInvalid:       "Problems in an add-on's declared dependencies, by add-on and problem.",
	NameContested:     "Times that Degraded was written again because another writer keeps overwriting it, by add-on.",
	NameEventsLeftOut: "Transitions of Degraded without an event, because there were too many at once.",
	NameFactsClusters: "Managed clusters whose facts dependencies need, by progress: answered, waiting for addon-agent there, or not_served by the hub.",
	NameSilentAgents:  "Managed clusters, except lost ones, whose facts dependencies need and whose addon-agent does not report.",
	NameFactsWrites:   "Writes of what is requested of managed clusters, by result (success or error).",
}

// WriteResult is the result of a write of a condition.
type WriteResult string

// The results of a write.
const (
	WriteSuccess  WriteResult = "success"
	WriteConflict WriteResult = "conflict"
	WriteError    WriteResult = "error"
)

// FactsPhase is the progress of the request for the facts of a cluster.
type FactsPhase string

// The values of the label standing.
const (
	// FactsNone means that no facts are needed.
	FactsNone      FactsPhase = ""
	FactsReported  FactsPhase = "answered"
	FactsWaiting   FactsPhase = "waiting"
	FactsNotServed FactsPhase = "not_served"
)

const labelAddOn = "addon"

// Metrics has the metrics of the hub controllers.
type Metrics struct {
	fleet         *fleet
	reaction      *prometheus.HistogramVec
	writes        *prometheus.CounterVec
	evaluation    prometheus.Histogram
	problems      *prometheus.GaugeVec
	contested     *prometheus.CounterVec
	leftOut       prometheus.Counter
	factsClusters *prometheus.GaugeVec
	factsWrites   *prometheus.CounterVec

	mutex       sync.Mutex
	addOns      map[string]bool
	factsPhases map[string]FactsPhase // by cluster
}

// New registers all metrics with the registry. It panics if a name is already registered,
// which only a programming error can cause.
func New(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	counter := func(name string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: Help[name]}, labels)
	}
	gauge := func(name string, labels ...string) *prometheus.GaugeVec {
		return register.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: Help[name]}, labels)
	}
	collector := newFleet()
	registry.MustRegister(collector)
	m := &Metrics{
		fleet: collector,
		reaction: register.NewHistogramVec(prometheus.HistogramOpts{
			Name: NameReaction, Help: Help[NameReaction], Buckets: []float64{0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800},
		}, []string{"reaction"}),
		writes: counter(NameWrites, labelAddOn, "reason", "result"),
		evaluation: register.NewHistogram(prometheus.HistogramOpts{
			Name: NameEvaluation, Help: Help[NameEvaluation], Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10),
		}),
		problems:      gauge(NameInvalid, labelAddOn, "problem"),
		contested:     counter(NameContested, labelAddOn),
		leftOut:       register.NewCounter(prometheus.CounterOpts{Name: NameEventsLeftOut, Help: Help[NameEventsLeftOut]}),
		factsClusters: gauge(NameFactsClusters, "standing"),
		factsWrites:   counter(NameFactsWrites, "result"),
		factsPhases:   map[string]FactsPhase{},
	}
	register.NewGaugeFunc(prometheus.GaugeOpts{Name: NameSilentAgents, Help: Help[NameSilentAgents]}, m.silentAgents)
	return m
}

// Wrote counts one write of a registered add-on's Degraded.
func (m *Metrics) Wrote(addOn, reason string, result WriteResult) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.addOns[addOn] {
		return
	}
	m.writes.WithLabelValues(addOn, reason, string(result)).Inc()
}

// Contested counts one write that is necessary because another writer keeps
// overwriting the condition.
func (m *Metrics) Contested(addOn string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.addOns[addOn] {
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

// Reacted records how long a reaction took. A clock of a managed cluster may be ahead.
func (m *Metrics) Reacted(reaction condition.Reaction, took time.Duration) {
	if reaction == condition.ReactionNone {
		return
	}
	m.reaction.WithLabelValues(string(reaction)).Observe(max(0, took.Seconds()))
}

// SetProblems replaces the problems of an add-on's declaration.
func (m *Metrics) SetProblems(addOn string, problems []declaration.Problem) {
	m.problems.DeletePartialMatch(prometheus.Labels{labelAddOn: addOn})
	for _, problem := range problems {
		m.problems.WithLabelValues(addOn, string(problem.Reason)).Inc()
	}
}

// SetAddOns replaces the names of all registered add-ons. It deletes the series of add-ons
// that are no longer registered. Only the series of their edges stay until each cluster is
// evaluated. Later writes of such add-ons are not counted, because their series would never
// be deleted.
func (m *Metrics) SetAddOns(addOns []string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	previous := m.addOns
	m.addOns = make(map[string]bool, len(addOns))
	for _, addOn := range addOns {
		m.addOns[addOn] = true
	}
	for addOn := range previous {
		if !m.addOns[addOn] {
			labels := prometheus.Labels{labelAddOn: addOn}
			m.problems.DeletePartialMatch(labels)
			m.writes.DeletePartialMatch(labels)
			m.contested.DeletePartialMatch(labels)
			m.fleet.forgetEdges(addOn)
		}
	}
}

// SetFacts sets the progress of the request for the facts of a cluster.
func (m *Metrics) SetFacts(cluster string, phase FactsPhase) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	previous := m.factsPhases[cluster]
	if previous == phase {
		return
	}
	if previous != FactsNone {
		m.factsClusters.WithLabelValues(string(previous)).Dec()
	}
	if phase == FactsNone {
		delete(m.factsPhases, cluster)
		return
	}
	m.factsPhases[cluster] = phase
	m.factsClusters.WithLabelValues(string(phase)).Inc()
}

// silentAgents counts the clusters that wait and are not lost.
func (m *Metrics) silentAgents() float64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	silent := 0
	for cluster, phase := range m.factsPhases {
		if phase == FactsWaiting && !m.fleet.isLost(cluster) {
			silent++
		}
	}
	return float64(silent)
}

// FactsWrote counts one write of a request for facts.
func (m *Metrics) FactsWrote(result WriteResult) { m.factsWrites.WithLabelValues(string(result)).Inc() }
