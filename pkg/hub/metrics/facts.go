package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Names and meanings of the metrics on facts.
const (
	NameFactsClusters = "interlock_facts_clusters"
	HelpFactsClusters = "Managed clusters whose facts dependencies need, by progress: answered, waiting for addon-agent there, or not_served by the hub."

	NameFactsWrites = "interlock_facts_writes_total"
	HelpFactsWrites = "Writes of what is requested of managed clusters, by result (success or error)."
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

type factsMetrics struct {
	clusters *prometheus.GaugeVec
	writes   *prometheus.CounterVec

	mutex  sync.Mutex
	phases map[string]FactsPhase // by cluster
}

func newFactsMetrics(registry prometheus.Registerer) *factsMetrics {
	m := &factsMetrics{
		clusters: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameFactsClusters, Help: HelpFactsClusters}, []string{"standing"}),
		writes:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: NameFactsWrites, Help: HelpFactsWrites}, []string{"result"}),
		phases:   map[string]FactsPhase{},
	}
	registry.MustRegister(m.clusters, m.writes)
	return m
}

// SetFacts sets how far the facts that are needed of a cluster are reported.
func (m *Metrics) SetFacts(cluster string, now FactsPhase) {
	f := m.facts
	f.mutex.Lock()
	defer f.mutex.Unlock()
	before := f.phases[cluster]
	if before == now {
		return
	}
	if before != FactsNone {
		f.clusters.WithLabelValues(string(before)).Dec()
	}
	if now == FactsNone {
		delete(f.phases, cluster)
		return
	}
	f.phases[cluster] = now
	f.clusters.WithLabelValues(string(now)).Inc()
}

// FactsWrote counts one write of what is requested.
func (m *Metrics) FactsWrote(result WriteResult) {
	m.facts.writes.WithLabelValues(string(result)).Inc()
}
