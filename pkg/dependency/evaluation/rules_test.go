package evaluation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

type ruleCase struct {
	reason string
	spec   string // of x
	// others are registered too, and all other add-ons that edges in the field are on.
	others  []addonv1alpha1.ClusterManagementAddOn
	cluster evaluation.Cluster
	addOns  map[string]evaluation.Observation
	want    string
	message string
}

func (tc ruleCase) run(t *testing.T) {
	t.Helper()
	tc.withPolicies(t, policy.Set{})
}

// under runs the case where policies override something.
func (tc ruleCase) withPolicies(t *testing.T, policies policy.Set) {
	t.Helper()
	tc.among(t, policies, catalog.Placements{})
}

// among runs the case on a hub with policies and Placements.
func (tc ruleCase) among(t *testing.T, policies policy.Set, placements catalog.Placements) {
	t.Helper()
	x := fixture.Specified(t, "x", tc.spec)
	if problems := declaration.Read(&x).Problems; len(problems) > 0 {
		t.Fatalf("%s: %v", tc.reason, problems)
	}
	c := evaluation.New(catalog.New(fixture.WithTargets(append(tc.others, x))).WithPolicies(policies).Consented(placements))
	findings := c.Evaluate("x", c.State("x", tc.cluster, func(addOn string) evaluation.Observation { return tc.addOns[addOn] }))
	if got := verdicts(findings); got != tc.want {
		t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
	}
	if diff := cmp.Diff(tc.message, condition.Message(findings, condition.MaxMessage)); diff != "" {
		t.Errorf("%s: message -want, +got:\n%s", tc.reason, diff)
	}
}

const howTo = "set the annotation dependency.addon.open-cluster-management.io/version on the lease of its agent, " +
	"on its AddOnTemplate, on its ManagedClusterAddOn or on its ClusterManagementAddOn"

// Every add-on is observed once, and the dependent itself only where a condition of
// its edges reads it.
func TestOnlyNeedsAreObserved(t *testing.T) {
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", `
dependencies:
- name: a
- {name: b, when: {clusterSelector: {matchLabels: {a: b}}}}
- {name: c, api: {kind: Pod}}
- {name: d, when: {expression: "cluster.version == ''"}}
- {name: e, addOn: a, when: {expression: "config.?a.orValue('') == '' && addOn.name == 'x'"}}
- {name: f, addOn: a, version: "*"}
- {name: versioned, version: ">= 1"}
requirements: {kubernetes: "*"}`)})
	want := []evaluation.Need{
		{Name: "a"}, {Name: "b"}, {Name: "d"}, {Name: "versioned", Inputs: input.Versions}, {Name: "x", Inputs: input.Config},
	}
	if diff := cmp.Diff(want, c.Needs("x")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
