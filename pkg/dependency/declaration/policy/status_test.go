package policy

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// fine is of a fleet where every override can have an effect.
func fine(*dependencyv1alpha1.DependencyOverride, *Override) string { return "" }

func TestStatus(t *testing.T) {
	const edge = "clusterSelector: {matchLabels: {tier: edge}}\n"
	policies := []dependencyv1alpha1.AddOnDependencyPolicy{
		fixture.Policy(
			t,
			"edge",
			edge+`overrides: [{addOn: a, dependency: b, type: Optional}, {addOn: c, dependency: d, type: Optional},
				{addOn: c, dependency: z, type: Optional}]`,
		),
		fixture.Policy(t, "all", `overrides: [{addOn: a, dependency: b, type: Required}]`),
		fixture.Policy(
			t,
			"wrong",
			`overrides: [{addOn: a, dependency: x, version: newest}, {addOn: a, dependency: w, version: latest}]`,
		),
		fixture.Policy(t, "over", `overrides: [{addOn: a, dependency: e, waive: {reason: x, until: "2026-08-01T10:00:00Z"}}]`),
	}
	set, tally := Read(policies), NewTally(now)
	count := func(addOn, dependency, cluster, tier string) {
		tally.Add(addOn, dependency, cluster, map[string]string{"tier": tier}, set.Overrides(addOn, dependency))
	}
	for i := range 5 {
		cluster := fmt.Sprintf("c%d", i)
		count("a", "b", cluster, "edge")
		count("a", "b", cluster, "edge") // once
		count("a", "e", cluster, "edge")
	}
	count("a", "b", "core", "core")
	count("c", "d", "c0", "edge")
	count("c", "d", "c9", "edge")
	count("c", "d", "core", "core")

	noEffect := func(target *dependencyv1alpha1.DependencyOverride, _ *Override) string {
		if target.Dependency == "z" {
			return "c declares no dependency of the name z"
		}
		return ""
	}
	type said struct {
		Accepted, Conflicting string
		AddOns, Clusters      int32
		Overrides             []string
	}
	const aRange = `must be a range of semantic versions, such as ">= 1.2 < 2.0", "^1.2" or "1.2.x || 1.4.x"`
	for i, want := range []said{
		{
			"True: All overrides can be used.",
			"True: a → b: AddOnDependencyPolicy 'all' says something else on 5 clusters (c0, c1, c2 and 2 more). The stricter counts.", 2, 6,
			[]string{"a b 5 ", "c d 2 ", "c z 0 c declares no dependency of the name z"},
		},
		{
			"True: All overrides can be used.",
			"True: a → b: AddOnDependencyPolicy 'edge' says something else on 5 clusters (c0, c1, c2 and 2 more). The stricter counts.", 1, 6,
			[]string{"a b 6 "},
		},
		{
			`False: spec.overrides[0].version: Invalid value: "newest": ` + aRange +
				`; and 1 more. Until it is corrected, verdicts on these dependencies stay as they are.`,
			"False: No other policy contradicts this one.", 0, 0,
			[]string{
				`a x 0 spec.overrides[0].version: Invalid value: "newest": ` + aRange,
				`a w 0 spec.overrides[1].version: Invalid value: "latest": ` + aRange,
			},
		},
		{
			"True: All overrides can be used.", "False: No other policy contradicts this one.", 1, 5,
			[]string{"a e 5 the waiver ended at 2026-08-01T10:00:00Z: the dependency counts as declared"},
		},
	} {
		status := tally.Status(&policies[i], noEffect)
		text := func(condition metav1.Condition) string {
			return fmt.Sprintf("%s: %s", condition.Status, condition.Message)
		}
		got := said{text(status.Conditions[0]), text(status.Conditions[1]), status.AddOns, status.Clusters, nil}
		for _, override := range status.Overrides {
			got.Overrides = append(got.Overrides,
				fmt.Sprintf("%s %s %d %s", override.AddOn, override.Dependency, override.Clusters, override.Message))
		}
		if diff := cmp.Diff(want, got); diff != "" || status.ObservedGeneration != 1 {
			t.Errorf("%s, generation %d: -want, +got:\n%s", policies[i].Name, status.ObservedGeneration, diff)
		}
	}
}

// A condition that stays keeps its moment, so that nothing is written; one that is not ours goes.
func TestStatusThatIsStoredStays(t *testing.T) {
	policy := fixture.Policy(t, "p", override("type: Optional"))
	policy.Status = NewTally(now).Status(&policy, fine)
	policy.Status.Conditions = append(policy.Status.Conditions, metav1.Condition{Type: "Other"})
	later := NewTally(now.Add(time.Hour)).Status(&policy, fine)
	policy.Status.Conditions = policy.Status.Conditions[:2]
	if diff := cmp.Diff(policy.Status, later); diff != "" {
		t.Errorf("-stored, +later:\n%s", diff)
	}
}

func TestNext(t *testing.T) {
	for name, test := range map[string]struct {
		rest string
		want string
	}{
		"no waiver":         {"type: Optional", ""},
		"a waiver":          {`waive: {reason: x, until: "2026-08-02T10:00:00Z"}`, "2026-08-02T10:00:00Z"},
		"one that is over":  {`waive: {reason: x, until: "2026-08-01T10:00:00Z"}`, ""},
		"one that is wrong": {`type: Optional, waive: {reason: x, until: "2026-08-02T10:00:00Z"}`, ""},
		"one too far ahead": {`waive: {reason: x, until: "2027-09-01T10:00:00Z"}`, "2026-08-31T10:00:00Z"},
	} {
		set := Read([]dependencyv1alpha1.AddOnDependencyPolicy{fixture.Policy(t, "p", override(test.rest))})
		got := ""
		if next := set.Next(now); !next.IsZero() {
			got = next.Format(time.RFC3339)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
