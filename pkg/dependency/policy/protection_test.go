package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestProtected(t *testing.T) {
	set := Read([]dependencyv1alpha1.AddOnDependencyPolicy{
		fixture.Policy(t, "off", `{protection: "Off", clusterSelector: {matchLabels: {stage: dev}}}`),
		fixture.Policy(t, "edge", "{protection: Enforce, clusterSelector: {matchLabels: {tier: edge}}}"),
		fixture.Policy(t, "also-edge", "{protection: Enforce, clusterSelector: {matchLabels: {tier: edge}}}"),
		fixture.Policy(t, "silent", "{clusterSelector: {matchLabels: {tier: core}}}"),
		fixture.Policy(t, "unreadable", "{protection: Enforce, clusterSelector: {matchExpressions: [{key: a, operator: Near}]}}"),
		fixture.Policy(t, "unknown", "{protection: Always}"),
	})
	for _, test := range []struct {
		name   string
		labels map[string]string
		want   Protected
	}{
		{"none says anything", map[string]string{"tier": "core"}, Protected{}},
		{"one does", map[string]string{"stage": "dev"}, Protected{Protection: dependencyv1alpha1.ProtectionOff, Policies: []string{"off"}}},
		{"two agree", map[string]string{"tier": "edge"}, Protected{
			Protection: dependencyv1alpha1.ProtectionEnforce, Policies: []string{"also-edge", "edge"},
		}},
		{"the strictest counts", map[string]string{"tier": "edge", "stage": "dev"}, Protected{
			Protection: dependencyv1alpha1.ProtectionEnforce, Policies: []string{"also-edge", "edge", "off"}, Conflicting: true,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, set.Protected(test.labels)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConflictingProtection(t *testing.T) {
	policies := []dependencyv1alpha1.AddOnDependencyPolicy{
		fixture.Policy(t, "all", "{protection: Warn}"),
		fixture.Policy(t, "edge", "{protection: Enforce, clusterSelector: {matchLabels: {tier: edge}}}"),
		fixture.Policy(t, "wrong", "{protection: Always, clusterSelector: {matchExpressions: [{key: a, operator: Near}]}}"),
	}
	set, tally := Read(policies), NewTally(now)
	tally.AddProtected("cluster1", map[string]string{"tier": "edge"}, set)
	tally.AddProtected("cluster2", nil, set)
	for i, want := range []map[string]string{
		{
			"Accepted":    "All overrides can be used.",
			"Conflicting": "spec.protection: AddOnDependencyPolicy 'edge' says something else on 1 cluster (cluster1). The stricter counts.",
		},
		{
			"Accepted":    "All overrides can be used.",
			"Conflicting": "spec.protection: AddOnDependencyPolicy 'all' says something else on 1 cluster (cluster1). The stricter counts.",
		},
		{
			"Accepted": `spec.clusterSelector: "Near" is not a valid label selector operator; and 1 more. ` +
				"Until it is corrected, verdicts on these dependencies stay as they are.",
			"Conflicting": "No other policy contradicts this one.",
		},
	} {
		got := map[string]string{}
		for _, condition := range tally.Status(&policies[i], fine).Conditions {
			got[condition.Type] = condition.Message
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(policies[i].Name, diff)
		}
	}
}
