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
		want   Agreed[dependencyv1alpha1.Protection]
	}{
		{"none says anything", map[string]string{"tier": "core"}, Agreed[dependencyv1alpha1.Protection]{}},
		{"one does", map[string]string{"stage": "dev"}, Agreed[dependencyv1alpha1.Protection]{
			Value: dependencyv1alpha1.ProtectionOff, Policies: []string{"off"},
		}},
		{"two agree", map[string]string{"tier": "edge"}, Agreed[dependencyv1alpha1.Protection]{
			Value: dependencyv1alpha1.ProtectionEnforce, Policies: []string{"also-edge", "edge"},
		}},
		{"the strictest counts", map[string]string{"tier": "edge", "stage": "dev"}, Agreed[dependencyv1alpha1.Protection]{
			Value: dependencyv1alpha1.ProtectionEnforce, Policies: []string{"also-edge", "edge", "off"}, Conflicting: true,
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
	tally.AddCluster("cluster1", map[string]string{"tier": "edge"}, set)
	tally.AddCluster("cluster2", nil, set)
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

// A policy that overrides nothing has an effect on all managed clusters that it selects.
func TestClustersOfStatements(t *testing.T) {
	const onEdge = "clusterSelector: {matchLabels: {tier: edge}}"
	for spec, want := range map[string]int32{
		"{install: Deny}": 3, "{install: Deny, " + onEdge + "}": 2, "{protection: Warn, install: Allow, " + onEdge + "}": 2,
		"{protection: Always}": 0, "{" + onEdge + "}": 0,
		"{install: Deny, " + onEdge + ", overrides: [{addOn: a, dependency: b, type: Optional}]}": 3,
	} {
		policies := []dependencyv1alpha1.AddOnDependencyPolicy{fixture.Policy(t, "p", spec)}
		set, tally := Read(policies), NewTally(now)
		for cluster, tier := range map[string]string{"cluster1": "edge", "cluster2": "edge", "cluster3": ""} {
			tally.AddCluster(cluster, map[string]string{"tier": tier}, set)
		}
		tally.Add("a", "b", "cluster4", map[string]string{"tier": "edge"}, set.Overrides("a", "b"))
		if got := tally.Status(&policies[0], fine); got.Clusters != want || len(got.Overrides) > 0 != (got.AddOns > 0) {
			t.Errorf("%s: %d clusters and %d add-ons", spec, got.Clusters, got.AddOns)
		}
	}
}

func TestInstalls(t *testing.T) {
	deny, allow := dependencyv1alpha1.InstallDeny, dependencyv1alpha1.InstallAllow
	together := func(value dependencyv1alpha1.Install, conflicting bool, policies ...string) Agreed[dependencyv1alpha1.Install] {
		return Agreed[dependencyv1alpha1.Install]{Value: value, Policies: policies, Conflicting: conflicting}
	}
	edge := map[string]string{"tier": "edge"}
	denies := map[string]string{"a": "{install: Deny, clusterSelector: {matchLabels: {tier: edge}}}"}
	for _, test := range []struct {
		name     string
		policies map[string]string
		labels   map[string]string
		want     Agreed[dependencyv1alpha1.Install]
	}{
		{"none says anything", map[string]string{"a": "{protection: Warn}"}, edge, together("", false)},
		{"one denies it", denies, edge, together(deny, false, "a")},
		{"elsewhere", denies, nil, together("", false)},
		{"Deny counts", map[string]string{"a": "{install: Deny}", "b": "{install: Allow}"}, edge, together(deny, true, "a", "b")},
		{"two agree", map[string]string{"a": "{install: Allow}", "b": "{install: Allow}"}, edge, together(allow, false, "a", "b")},
		{
			"a selector that cannot be read denies it everywhere",
			map[string]string{"a": "{install: Allow, clusterSelector: {matchExpressions: [{key: a, operator: Near}]}}"},
			edge, together(deny, false, "a"),
		},
		{"so does a value that is not known", map[string]string{"a": "{install: Sometimes}"}, edge, together(deny, false, "a")},
	} {
		t.Run(test.name, func(t *testing.T) {
			var policies []dependencyv1alpha1.AddOnDependencyPolicy
			for name, spec := range test.policies {
				policies = append(policies, fixture.Policy(t, name, spec))
			}
			if diff := cmp.Diff(test.want, Read(policies).Installs(test.labels)); diff != "" {
				t.Error(diff)
			}
		})
	}
	policies := []dependencyv1alpha1.AddOnDependencyPolicy{
		fixture.Policy(t, "a", "{install: Deny}"), fixture.Policy(t, "b", "{install: Allow}"),
	}
	tally := NewTally(now)
	tally.AddCluster("cluster1", nil, Read(policies))
	want := "spec.install: AddOnDependencyPolicy 'b' says something else on 1 cluster (cluster1). The stricter counts."
	if got := tally.Status(&policies[0], fine).Conditions[1].Message; got != want {
		t.Errorf("got %q", got)
	}
	unknown := fixture.Policy(t, "a", "{install: Sometimes}")
	if got := Wrong(&unknown, now); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
