package agentmetrics

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

func TestSeriesFollowObjects(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	for _, addOn := range []string{"proxy", "other"} {
		m.Wrote(addOn, metav1.Condition{Status: "True", Reason: "ManagedClusterAddOnLeaseUpdated"}, WriteSuccess)
		m.Contested(addOn)
		m.LeaseWatched(addOn, "managed", false)
		m.LeaseWatched(addOn, "hosting", true)
		m.Skewed(addOn, time.Minute)
	}
	m.Forget("other")
	want := `
# HELP interlock_agent_condition_writes_total ` + Help[NameWrites] + `
# TYPE interlock_agent_condition_writes_total counter
interlock_agent_condition_writes_total{addon="proxy",reason="ManagedClusterAddOnLeaseUpdated",result="success",status="True"} 1
# HELP interlock_agent_contested_conditions_total ` + Help[NameContested] + `
# TYPE interlock_agent_contested_conditions_total counter
interlock_agent_contested_conditions_total{addon="proxy"} 1
# HELP interlock_agent_lease_skew_seconds ` + Help[NameSkew] + `
# TYPE interlock_agent_lease_skew_seconds gauge
interlock_agent_lease_skew_seconds{addon="proxy"} 60
# HELP interlock_agent_leases_watched ` + Help[NameLeases] + `
# TYPE interlock_agent_leases_watched gauge
interlock_agent_leases_watched{addon="proxy",cluster="hosting"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), slices.Collect(maps.Keys(Help))...); err != nil {
		t.Error(err)
	}
	m.Skewed("proxy", 0)
	m.LeaseUnwatched("proxy")
	if count := testutil.CollectAndCount(registry, NameSkew, NameLeases); count != 0 {
		t.Errorf("%d series of a lease that is neither watched nor ahead", count)
	}
}

func TestMetricsHaveHelp(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	m.Wrote("proxy", metav1.Condition{Status: "True", Reason: "ManagedClusterAddOnLeaseUpdated"}, WriteSuccess)
	m.Contested("proxy")
	m.LeaseWatched("proxy", "managed", true)
	m.Skewed("proxy", time.Minute)
	m.FactsWrote(WriteSuccess)
	m.FactsReported(dependencyv1alpha1.ManagedClusterFactsStatus{APIs: []dependencyv1alpha1.APIFact{{Served: metav1.ConditionUnknown}}})
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
	if count, err := testutil.GatherAndCount(registry, slices.Collect(maps.Keys(Help))...); err != nil || count != len(Help) {
		t.Errorf("%d metrics (%v), but %d are explained", count, err, len(Help))
	}
}
