package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Names and meanings of the metrics on what the hub asks about the cluster.
const (
	NameFactsWrites = "interlock_agent_facts_writes_total"
	HelpFactsWrites = "Writes of the answers to what the hub asks about the cluster, by result (success, conflict or error)."

	NameFactsUnknown = "interlock_agent_facts_unknown"
	HelpFactsUnknown = "What the hub asks about the cluster and could not be found out, by what it is about (api or version) and reason."
)

// The values of the label about.
const (
	aboutAPI     = "api"
	aboutVersion = "version"
)

type factsMetrics struct {
	writes  *prometheus.CounterVec
	unknown *prometheus.GaugeVec
}

func newFactsMetrics(registry prometheus.Registerer) factsMetrics {
	m := factsMetrics{
		writes:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: NameFactsWrites, Help: HelpFactsWrites}, []string{"result"}),
		unknown: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: NameFactsUnknown, Help: HelpFactsUnknown}, []string{"about", "reason"}),
	}
	registry.MustRegister(m.writes, m.unknown)
	return m
}

// FactsWrote counts one write of the answers.
func (m *Metrics) FactsWrote(result WriteResult) {
	m.facts.writes.WithLabelValues(string(result)).Inc()
}

// FactsFound tells what of the answers is not known.
func (m *Metrics) FactsFound(status dependencyv1alpha1.ManagedClusterFactsStatus) {
	m.facts.unknown.Reset()
	for _, fact := range status.APIs {
		if fact.Served == metav1.ConditionUnknown {
			m.facts.unknown.WithLabelValues(aboutAPI, string(fact.Reason)).Inc()
		}
	}
	for _, fact := range status.AddOns {
		if fact.Version == "" {
			m.facts.unknown.WithLabelValues(aboutVersion, string(fact.Reason)).Inc()
		}
	}
}

// FactsGone tells that nothing is asked any more.
func (m *Metrics) FactsGone() {
	m.facts.unknown.Reset()
}
