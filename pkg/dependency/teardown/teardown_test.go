package teardown_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/teardown"
	"open-cluster-management.io/interlock/test/fixture"
)

const onBase = `{ordering: Install, dependencies: [{name: base}]}`

func declared(t *testing.T, specs map[string]string) *catalog.Catalog {
	t.Helper()
	var all []addonv1alpha1.ClusterManagementAddOn
	for _, name := range []string{"base", "leaf", "other"} {
		spec := specs[name]
		if spec == "" {
			spec = "{}"
		}
		all = append(all, fixture.Specified(t, name, spec))
	}
	return catalog.New(all)
}

func TestDecide(t *testing.T) {
	now := fixture.Now.Time
	ordered := map[string]string{"leaf": onBase}
	both := map[string]bool{"base": true, "leaf": true}
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
			"with a dependent that is being deleted", ordered, both, time.Minute, false,
			teardown.Decision{Dependents: []string{"leaf"}, NextCheck: now.Add(9 * time.Minute)},
		},
		{"for ten minutes", ordered, both, 10 * time.Minute, false, teardown.Decision{Release: true, Dependents: []string{"leaf"}}},
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
		{"on a cluster that is lost or gone", ordered, both, 0, true, release},
		{"without an order", map[string]string{"leaf": `{dependencies: [{name: base}]}`}, both, 0, false, release},
		{
			"where only the dependency has one",
			map[string]string{"leaf": `{dependencies: [{name: base}]}`, "base": `{ordering: Install}`},
			both, 0, false, release,
		},
		{
			"with a conflict",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: base, type: Conflicts}]}`},
			both, 0, false, release,
		},
		{
			"with an Optional edge",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: base, type: Optional}]}`},
			both, 0, false, release,
		},
		{
			"with an edge on its API",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: t, api: {kind: Tunnel}}]}`, "base": `{provides: [{kind: Tunnel}]}`},
			both, 0, false,
			teardown.Decision{Dependents: []string{"leaf"}, NextCheck: now.Add(10 * time.Minute)},
		},
		{
			"with an alternative",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: x, anyOf: [{addOn: base}, {addOn: other}]}]}`},
			both, 0, false,
			teardown.Decision{Dependents: []string{"leaf"}, NextCheck: now.Add(10 * time.Minute)},
		},
		{
			"with one that cannot be read",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: base, when: {expression: "1 +"}}]}`},
			both, 0, false, release,
		},
		{
			"with an edge that does not apply",
			map[string]string{"leaf": `{ordering: Install, dependencies: [{name: base, when: {clusterSelector: {matchLabels: {tier: edge}}}}]}`},
			both, 0, false, release,
		},
		{
			"that would wait for each other",
			map[string]string{"leaf": onBase, "base": `{ordering: Install, dependencies: [{name: leaf}]}`},
			both, 0, false, release,
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

// Whatever is deleted, in whatever order the leaves go, nothing is left in the end.
func TestNothingWaitsForEver(t *testing.T) {
	random := fixture.Random(7)
	names := []string{"base", "leaf", "other"}
	for range 300 {
		specs := map[string]string{}
		for _, from := range names {
			spec := `{ordering: Install, dependencies: [{name: absent}`
			for _, to := range names {
				if to != from && random.IntN(2) == 0 {
					spec += `, {name: ` + to + `}`
				}
			}
			specs[from] = spec + `]}`
		}
		catalog, left := declared(t, specs), map[string]bool{"base": true, "leaf": true, "other": true}
		for len(left) > 0 {
			before := len(left)
			for _, name := range names {
				state := teardown.State{Deleted: fixture.Now.Time, Deleting: left}
				if _, there := left[name]; there && teardown.Decide(catalog, name, state, fixture.Now.Time).Release {
					delete(left, name)
				}
			}
			if len(left) == before {
				t.Fatalf("%v wait for each other: %v", left, specs)
			}
		}
	}
}
