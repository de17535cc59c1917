package agentmetrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

func TestFactsMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	m.FactsWrote(WriteSuccess)
	m.FactsReported(dependencyv1alpha1.ManagedClusterFactsStatus{
		APIs: []dependencyv1alpha1.APIFact{
			{Served: metav1.ConditionTrue},
			{Served: metav1.ConditionFalse},
			{
				Served: metav1.ConditionTrue, Reason: dependencyv1alpha1.ReasonSchemaNotPublished,
				Fields: []dependencyv1alpha1.FieldFact{{Found: metav1.ConditionTrue}, {Found: metav1.ConditionUnknown}},
			},
			{Served: metav1.ConditionUnknown, Reason: dependencyv1alpha1.ReasonDiscoveryFailed},
		},
		AddOns:  []dependencyv1alpha1.AddOnFact{{Version: "1.0.0"}, {Reason: dependencyv1alpha1.ReasonLeaseNotFound}},
		Objects: []dependencyv1alpha1.ObjectsFact{{Count: new(int64)}, {Reason: dependencyv1alpha1.ReasonForbidden}},
	})
	want := `
# HELP interlock_agent_facts_unknown ` + Help[NameFactsUnknown] + `
# TYPE interlock_agent_facts_unknown gauge
interlock_agent_facts_unknown{about="api",reason="DiscoveryFailed"} 1
interlock_agent_facts_unknown{about="api",reason="SchemaNotPublished"} 1
interlock_agent_facts_unknown{about="objects",reason="Forbidden"} 1
interlock_agent_facts_unknown{about="version",reason="LeaseNotFound"} 1
# HELP interlock_agent_facts_writes_total ` + Help[NameFactsWrites] + `
# TYPE interlock_agent_facts_writes_total counter
interlock_agent_facts_writes_total{result="success"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), NameFactsUnknown, NameFactsWrites); err != nil {
		t.Error(err)
	}
	m.ForgetFacts()
	if count := testutil.CollectAndCount(registry, NameFactsUnknown); count != 0 {
		t.Errorf("%d series when nothing is requested", count)
	}
}
