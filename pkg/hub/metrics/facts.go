package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Names and meanings of the metrics on what is asked of managed clusters.
const (
	NameFactsClusters = "interlock_facts_clusters"
	HelpFactsClusters = "Managed clusters of which dependencies ask something, by how that stands: answered, waiting for addon-agent there, or not_served by the hub."

	NameFactsWrites = "interlock_facts_writes_total"
	HelpFactsWrites = "Writes of what is asked of managed clusters, by result (success or error)."
)

// Standing is how far what is asked of a cluster is answered.
type Standing string

// The values of the label standing.
const (
	// StandingNone: nothing is asked.
	StandingNone      Standing = ""
	StandingAnswered  Standing = "answered"
	StandingWaiting   Standing = "waiting"
	StandingNotServed Standing = "not_served"
)

type factsMetrics struct {
	clusters *prometheus.GaugeVec
	writes   *prometheus.CounterVec

	mutex    sync.Mutex
	standing map[string]Standing // by cluster
}

func newFactsMetrics(registry prometheus.Registerer) *factsMetrics {
	m := &factsMetrics{
		clusters: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameFactsClusters, Help: HelpFactsClusters}, []string{"standing"}),
		writes:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: NameFactsWrites, Help: HelpFactsWrites}, []string{"result"}),
		standing: map[string]Standing{},
	}
	registry.MustRegister(m.clusters, m.writes)
	return m
}

// Asked tells how what is asked of a cluster stands.
func (m *Metrics) Asked(cluster string, now Standing) {
	f := m.facts
	f.mutex.Lock()
	defer f.mutex.Unlock()
	before := f.standing[cluster]
	if before == now {
		return
	}
	if before != StandingNone {
		f.clusters.WithLabelValues(string(before)).Dec()
	}
	if now == StandingNone {
		delete(f.standing, cluster)
		return
	}
	f.standing[cluster] = now
	f.clusters.WithLabelValues(string(now)).Inc()
}

// FactsWrote counts one write of what is asked.
func (m *Metrics) FactsWrote(result WriteResult) {
	m.facts.writes.WithLabelValues(string(result)).Inc()
}
