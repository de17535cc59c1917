package teardown_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/teardown"
	"open-cluster-management.io/interlock/test/fixture"
)

const onBase = `{ordering: Install, dependencies: [{name: base}]}`

func declared(t *testing.T, specs map[string]string) *catalog.Catalog {
	t.Helper()
	var addOns []addonv1alpha1.ClusterManagementAddOn
	for _, name := range []string{"base", "leaf", "other"} {
		spec := specs[name]
		if spec == "" {
			spec = "{}"
		}
		addOns = append(addOns, fixture.Specified(t, name, spec))
	}
	return catalog.New(addOns)
}

func TestDecide(t *testing.T) {
	now := fixture.Now.Time
	ordered := map[string]string{"leaf": onBase}
	deleting := map[string]bool{"base": true, "leaf": true}
	release := teardown.Decision{Release: true}
	for _, test := range []struct {
		name      string
		specs     map[string]string
		deleting  map[string]bool
		ago       time.Duration
		abandoned bool
		want      teardown.Decision
	}{
		{"alone", ordered, map[string]bool{"base": true}, 0, false, release},
		{
			"with a dependent that is being deleted", ordered, deleting, time.Minute, false,
			teardown.Decision{Dependents: []string{"leaf"}, NextCheck: now.Add(9 * time.Minute)},
		},
		{"for ten minutes", ordered, deleting, 10 * time.Minute, false, teardown.Decision{Release: true, Dependents: []string{"leaf"}}},
		{
			"with one that may be deleted next", ordered,
			map[string]bool{"base": true, "leaf": false},
			time.Second, false,
			teardown.Decision{Stays: true, NextCheck: now.Add(2 * time.Second)},
		},
		{
			"with one that stays", ordered,
			map[string]bool{"base": true, "leaf": false},
			3 * time.Second, false,
			teardown.Decision{Release: true, Stays: true},
		},
		{"on a cluster that is lost or gone", ordered, deleting, 0, true, release},
		{"without an order", map[string]string{"leaf": `{dependencies: [{name: base}]}`}, deleting, 0, false, release},
		{
			"where only the dependency has one",
			map[string]string{"leaf": `{dependencies: [{name: base}]}`, "base": `{ordering: Install}`},
			deleting, 0, false, release,
		},
		{
			"with a conflict",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: base, type: Conflicts}]}`},
			deleting, 0, false, release,
		},
		{
			"with an Optional edge",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: base, type: Optional}]}`},
			deleting, 0, false, release,
		},
		{
			"with an edge on its API",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: t, api: {kind: Tunnel}}]}`, "base": `{provides: [{kind: Tunnel}]}`},
			deleting, 0, false,
			teardown.Decision{Dependents: []string{"leaf"}, NextCheck: now.Add(10 * time.Minute)},
		},
		{
			"with an alternative",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: x, anyOf: [{addOn: base}, {addOn: other}]}]}`},
			deleting, 0, false,
			teardown.Decision{Dependents: []string{"leaf"}, NextCheck: now.Add(10 * time.Minute)},
		},
		{
			"with one that cannot be read",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: base, when: {expression: "1 +"}}]}`},
			deleting, 0, false, release,
		},
		{
			"with an edge that does not apply",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: base, when: {clusterSelector: {matchLabels: {tier: edge}}}}]}`},
			deleting, 0, false, release,
		},
		{
			"that would wait for each other",
			map[string]string{"leaf": onBase, "base": `{ordering: Install, dependencies: [{name: leaf}]}`},
			deleting, 0, false, release,
		},
		{
			"that would wait for each other through a third",
			map[string]string{
				"leaf": onBase, "base": `{ordering: Install, dependencies: [{name: other}]}`,
				"other": `{ordering: Install, dependencies: [{name: leaf}]}`,
			},
			map[string]bool{"base": true, "leaf": true, "other": true},
			0, false, release,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := teardown.State{Deleted: now.Add(-test.ago), Deleting: test.deleting, Abandoned: test.abandoned}
			declared := declared(t, test.specs)
			findings := map[string][]evaluation.Finding{"leaf": evaluation.New(declared).Evaluate("leaf", evaluation.State{})}
			if slices.ContainsFunc(findings["leaf"], func(f evaluation.Finding) bool { return f.Verdict == evaluation.NotApplicable }) {
				if teardown.Decide(declared, "base", state, now).Release {
					t.Error("it is released before it is known that no edge applies")
				}
			}
			state.Findings = findings
			got := teardown.Decide(declared, "base", state, now)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Late() != (test.ago == 10*time.Minute) {
				t.Errorf("late: %t", got.Late())
			}
		})
	}
}

// While it is not known which declaration applies on a managed cluster, all of them count.
func TestADeclarationThatIsNotKnownHolds(t *testing.T) {
	now := fixture.Now.Time
	state := teardown.State{
		Deleted: now, Deleting: map[string]bool{"base": true, "leaf": true},
		Findings: map[string][]evaluation.Finding{"leaf": {{Verdict: evaluation.Held}}},
	}
	if got := teardown.Decide(declared(t, map[string]string{"leaf": onBase}), "base", state, now); got.Release {
		t.Errorf("it is released: %+v", got)
	}
}

// All deleted add-ons are removed in the end, in any order of deletions.
func TestNothingWaitsForEver(t *testing.T) {
	random := fixture.Random(7)
	names := []string{"base", "leaf", "other"}
	for range 300 {
		specs := map[string]string{}
		for _, source := range names {
			spec := `{ordering: Install, dependencies: [{name: absent}`
			for _, target := range names {
				if target != source && random.IntN(2) == 0 {
					spec += `, {name: ` + target + `}`
				}
			}
			specs[source] = spec + `]}`
		}
		catalog, remaining := declared(t, specs), map[string]bool{"base": true, "leaf": true, "other": true}
		for len(remaining) > 0 {
			count := len(remaining)
			for _, name := range names {
				state := teardown.State{Deleted: fixture.Now.Time, Deleting: remaining}
				if _, ok := remaining[name]; ok && teardown.Decide(catalog, name, state, fixture.Now.Time).Release {
					delete(remaining, name)
				}
			}
			if len(remaining) == count {
				t.Fatalf("%v wait for each other: %v", remaining, specs)
			}
		}
	}
}
