package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Names and meanings of the metrics on ManagedClusterFacts.
const (
	NameFactsWrites = "interlock_agent_facts_writes_total"
	HelpFactsWrites = "Writes of the status of ManagedClusterFacts, by result (success, conflict or error)."

	NameFactsUnknown = "interlock_agent_facts_unknown"
	HelpFactsUnknown = "Facts that the hub requests and addon-agent does not know, by what they are about (api or version) and reason."
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

// FactsWrote counts one write of the status.
func (m *Metrics) FactsWrote(result WriteResult) {
	m.facts.writes.WithLabelValues(string(result)).Inc()
}

// FactsReported records which facts are unknown.
func (m *Metrics) FactsReported(status dependencyv1alpha1.ManagedClusterFactsStatus) {
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

// ForgetFacts records that nothing is requested.
func (m *Metrics) ForgetFacts() {
	m.facts.unknown.Reset()
}
