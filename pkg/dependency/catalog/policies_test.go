package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/test/fixture"
)

func read(t *testing.T, specs ...string) policy.Set {
	t.Helper()
	var policies []dependencyv1alpha1.AddOnDependencyPolicy
	for _, spec := range specs {
		policies = append(policies, fixture.Policy(t, "p", spec))
	}
	return policy.Read(policies)
}

// A policy concerns the add-ons whose edges it overrides, and those that are on a cycle with them.
func TestChangedByPolicies(t *testing.T) {
	addOns := fixture.Registrations("a: b, b: a, c: a, d: c, e")
	const optional = "overrides: [{addOn: a, dependency: b, type: Optional}]"
	for name, test := range map[string]struct {
		previous, current []string
		want              []string
	}{
		"none":           {nil, nil, nil},
		"the same":       {[]string{optional}, []string{optional}, nil},
		"added":          {nil, []string{optional}, []string{"a", "b"}},
		"removed":        {[]string{optional}, nil, []string{"a", "b"}},
		"another edge":   {nil, []string{"overrides: [{addOn: a, dependency: z, type: Optional}]"}, nil},
		"no add-on":      {nil, []string{"overrides: [{addOn: z, dependency: b, type: Optional}]"}, nil},
		"on no cycle":    {nil, []string{"overrides: [{addOn: d, dependency: c, type: Optional}]"}, []string{"d"}},
		"other clusters": {[]string{optional}, []string{"clusterSelector: {matchLabels: {x: y}}\n" + optional}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			previous := catalog.New(addOns).WithPolicies(read(t, test.previous...))
			current := previous.Renew(addOns, catalog.Templates{}).WithPolicies(read(t, test.current...))
			if diff := cmp.Diff(test.want, current.Changed(previous)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// Policies about installations change no verdict, but the messages of the add-ons that request an installation.
func TestRewordedByPolicies(t *testing.T) {
	addOns := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", "dependencies: [{name: a, install: Auto}]"), fixture.Specified(t, "y", "dependencies: [{name: a}]"),
		fixture.Specified(t, "a", "{}"),
	}
	const deny = "install: Deny"
	for name, test := range map[string]struct {
		previous, current []string
		want              []string
	}{
		"none":           {nil, nil, nil},
		"the same":       {[]string{deny}, []string{deny}, nil},
		"denied":         {nil, []string{deny}, []string{"x"}},
		"allowed again":  {[]string{deny}, []string{"install: Allow"}, []string{"x"}},
		"removed":        {[]string{deny}, nil, []string{"x"}},
		"other clusters": {[]string{deny}, []string{"{install: Deny, clusterSelector: {matchLabels: {a: b}}}"}, []string{"x"}},
		"something else": {nil, []string{"protection: Warn"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			previous := catalog.New(addOns).WithPolicies(read(t, test.previous...))
			current := previous.Renew(addOns, catalog.Templates{}).WithPolicies(read(t, test.current...))
			if diff := cmp.Diff(test.want, current.Reworded(previous)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			if got := current.Changed(previous); len(got) > 0 {
				t.Errorf("verdicts of %q change", got)
			}
		})
	}
}

func TestWithoutOverridesACatalogStaysItself(t *testing.T) {
	c := catalog.New(fixture.Registrations("a: b, b"))
	if c.WithPolicies(read(t, "overrides: [{addOn: z, dependency: b, type: Optional}]")) != c {
		t.Error("a policy on nothing makes another catalog")
	}
	overridden := c.WithPolicies(read(t, "overrides: [{addOn: a, dependency: b, type: Optional}]"))
	if diff := cmp.Diff([]string{"a"}, overridden.Overridden()); diff != "" || len(c.Overridden()) > 0 {
		t.Errorf("-want, +got:\n%s, before: %q", diff, c.Overridden())
	}
}

// Declarations in AddOnTemplates are overridden too. A cycle that a policy can open depends on the managed cluster.
func TestOverriddenTemplatesAndCycles(t *testing.T) {
	c := catalog.New(
		append(fixture.Registrations("b: a"), fixture.Deployed(fixture.Registration("a"))),
		fixture.Template("a", "v2", "[{name: b}]"),
	).
		WithPolicies(read(t, "overrides: [{addOn: a, dependency: b, type: Optional}]"))
	if declared := c.Declarations("a"); len(declared) != 2 || declared[0].HasOverrides() || !declared[1].HasOverrides() {
		t.Errorf("%+v", declared)
	}
	c = catalog.New(fixture.Registrations("a: b, b: a")).WithPolicies(read(t, "overrides: [{addOn: a, dependency: b, type: Optional}]"))
	if cycles := c.Cycles("a"); cycles != nil || c.Conditional("a") == nil {
		t.Errorf("certain %v, conditional %v", cycles, c.Conditional("a"))
	}
	if problems := c.Problems("a"); len(problems) != 1 || problems[0].Reason != declaration.ProblemConditionalCycle {
		t.Errorf("%v", problems)
	}
}
