package stock

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEveryRuleNamesItsSource(t *testing.T) {
	names := map[string]bool{}
	for _, rule := range Rules {
		if rule.Name == "" || rule.Component == "" || !strings.Contains(rule.Module, "@v") ||
			!strings.HasSuffix(rule.Source, ".go") || names[rule.Name] {
			t.Errorf("rule %q of %q, read in %q of %q", rule.Name, rule.Component, rule.Source, rule.Module)
		}
		names[rule.Name] = true
		for i, c := range rule.Cases {
			if c.Match == (Situation{}) && i != len(rule.Cases)-1 {
				t.Errorf("%s: case %d matches everything, so the cases after it never count", rule.Name, i)
			}
		}
	}
}

func TestRules(t *testing.T) {
	customized := Situation{Mode: "Customized", Prober: WorkProber, Cluster: "True"}
	modify := func(s Situation, change func(*Situation)) Situation {
		change(&s)
		return s
	}
	work := func(work Work) Situation { return modify(customized, func(s *Situation) { s.Work = work }) }
	for _, test := range []struct {
		rule      *Rule
		situation Situation
		want      string
	}{
		{AddOnLease, Situation{Mode: "Lease", AddOnLease: NoLease}, "Unknown/ManagedClusterAddOnLeaseNotFound"},
		{AddOnLease, Situation{AddOnLease: LiveLease}, "True/ManagedClusterAddOnLeaseUpdated"},
		{AddOnLease, Situation{AddOnLease: StoppedLease}, "False/ManagedClusterAddOnLeaseUpdateStopped"},
		{AddOnLease, Situation{Mode: "Customized", AddOnLease: LiveLease}, ""},
		{ClusterStatus, Situation{Cluster: "Unknown"}, "True/ManagedClusterAvailable"},
		{ClusterLease, Situation{Cluster: "True", ClusterLease: StoppedLease}, "Unknown/ManagedClusterLeaseUpdateStopped"},
		{ClusterLease, Situation{Cluster: "Unknown", ClusterLease: StoppedLease}, ""},
		{ClusterLease, Situation{Cluster: "True", ClusterLease: LiveLease}, ""},
		{ClusterHealth, Situation{Cluster: "Unknown"}, "Unknown/ManagedClusterLeaseUpdateStopped"},
		{ClusterHealth, Situation{Cluster: "True"}, ""},
		{FeatureDiscovery, Situation{Available: "True"}, "available"},
		{FeatureDiscovery, Situation{Available: "False"}, "unhealthy"},
		{FeatureDiscovery, Situation{Available: "Unknown"}, "unreachable"},
		{FeatureDiscovery, Situation{}, "unreachable"},
		{HealthCheck, Situation{Mode: "Lease", Work: WorkHealthy}, ""},
		{HealthCheck, Situation{Mode: "Customized", Prober: WorkProberWithoutFields, Cluster: "Unknown"}, "True/WorkApplied"},
		{HealthCheck, work(WorkNeverApplied), ""},
		{HealthCheck, modify(work(WorkHealthy), func(s *Situation) { s.Cluster = "Unknown" }), ""},
		{HealthCheck, work(WorkNotFound), "Unknown/WorkNotFound"},
		{HealthCheck, work(WorkNoStatus), "Unknown/WorkNotApplied"},
		{HealthCheck, work(WorkNotAvailable), "False/WorkNotApplied"},
		{HealthCheck, work(WorkNoFeedback), "Unknown/NoProbeResult"},
		{HealthCheck, work(WorkUnhealthy), "False/ProbeUnavailable"},
		{HealthCheck, work(WorkHealthy), "True/ProbeAvailable"},
		{HealthCheck, modify(work(WorkHealthy), func(s *Situation) { s.Degraded = required }), "True/ProbeAvailable"},
		{
			HealthCheck, modify(work(WorkHealthy), func(s *Situation) { s.Prober, s.Degraded = DependentProber, required }),
			"False/ProbeUnavailable",
		},
		{Registration, Situation{}, "True/SetPermissionApplied"},
		{Registration, Situation{Registered: "True"}, ""},
		{Configuration, Situation{Reference: NoReference}, "this"},
		{Configuration, Situation{Reference: AnotherReference}, "this"},
		{Configuration, Situation{Reference: ThisReference}, ""},
		{Progressing, Situation{Registered: "True", Reference: NoReference, Rollout: RolloutPending}, ""},
		{Progressing, Situation{Reference: ThisReference, Rollout: RolloutPending}, ""},
		{Progressing, Situation{Registered: "True", Reference: ThisReference, Rollout: RolloutPending}, "completed"},
		{Progressing, Situation{Registered: "True", Reference: AnotherReference, Rollout: RolloutPending}, "completed"},
		{Progressing, Situation{Registered: "True", Reference: ThisReference, Rollout: RolloutCompleted}, ""},
	} {
		if got := text(test.rule.Decide(test.situation)); got != test.want {
			t.Errorf("%s in %+v: got %q, want %q", test.rule.Name, test.situation, got, test.want)
		}
	}
}

func text(write Write) string {
	condition := func(c *metav1.Condition) string { return string(c.Status) + "/" + c.Reason }
	switch {
	case write.Available != nil:
		return condition(write.Available)
	case write.Cluster != nil:
		return condition(write.Cluster)
	case write.Registered != nil:
		return condition(write.Registered)
	default:
		return write.Label + string(write.Reference) + string(write.Rollout)
	}
}
