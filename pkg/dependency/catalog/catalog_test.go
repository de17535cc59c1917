package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestCatalog(t *testing.T) {
	c := New(append(fixture.Registrations("b: a, c:"), fixture.Annotated("a", "- name: c\n  type: Optional")))
	if diff := cmp.Diff([]string{"a", "b", "c"}, c.AddOns()); diff != "" {
		t.Errorf("add-ons -want, +got:\n%s", diff)
	}
	want := declaration.Declaration{Dependencies: list{fixture.Optional("c")}, Path: declaration.AnnotationPath.String()}
	if diff := cmp.Diff(want, c.Declaration("a"), exported); diff != "" {
		t.Errorf("declaration -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(declaration.Declaration{}, c.Declaration("missing"), exported); diff != "" {
		t.Errorf("an unregistered add-on declares nothing: %s", diff)
	}
	if got := New(nil).AddOns(); len(got) != 0 {
		t.Errorf("an empty hub has no add-ons, got %v", got)
	}
}

func TestCatalogProblems(t *testing.T) {
	base := fixture.Registrations("base:, pair-a: pair-b, pair-b: pair-a, legal-a: legal-b, legal-b: legal-a?")
	var long []string
	for i := range 60 {
		long = append(long, fmt.Sprintf("l%02d%s: l%02d%s", i, strings.Repeat("x", 200), (i+1)%60, strings.Repeat("x", 200)))
	}
	longName := "l00" + strings.Repeat("x", 200)

	cases := map[string]struct {
		reason string
		addOn  addonv1alpha1.ClusterManagementAddOn
		others []addonv1alpha1.ClusterManagementAddOn
		want   []declaration.ProblemReason
		text   string
	}{
		"None": {reason: "a registered dependency is no problem", addOn: fixture.Registration("x", fixture.Required("base"))},
		"Invalid": {
			reason: "an unusable declaration has no edges to complain of", addOn: fixture.Annotated("x", "{"),
			want: []declaration.ProblemReason{declaration.ProblemInvalid}, text: "metadata.annotations",
		},
		"NotRegistered": {
			reason: "each one is named, Optional or not",
			addOn:  fixture.Registration("x", fixture.Required("gone"), fixture.Optional("also")),
			want:   []declaration.ProblemReason{declaration.ProblemNotRegistered, declaration.ProblemNotRegistered},
			text:   `"gone"`,
		},
		"IfInstalled": {
			reason: "it need not be there",
			addOn:  fixture.Specified(t, "x", `dependencies: [{name: gone, type: IfInstalled, version: "1"}]`),
		},
		"Annotated": {
			reason: "the path is that of the declaration", addOn: fixture.Annotated("x", "- name: gone"),
			want: []declaration.ProblemReason{declaration.ProblemNotRegistered}, text: declaration.AnnotationPath.String(),
		},
		"Self": {
			reason: "a cycle of one", addOn: fixture.Registration("x", fixture.Required("x")),
			want: []declaration.ProblemReason{declaration.ProblemCycle}, text: "dependency cycle: x → x;",
		},
		"Cycle": {
			reason: "with a way out", addOn: fixture.Registrations("pair-a: pair-b")[0],
			want: []declaration.ProblemReason{declaration.ProblemCycle},
			text: "pair-a → pair-b → pair-a; make one of these dependencies Optional, or remove it",
		},
		"Legal":    {reason: "a pair that an Optional edge breaks", addOn: fixture.Registrations("legal-a: legal-b")[0]},
		"Outsider": {reason: "depending on a cycle's member is no cycle", addOn: fixture.Registration("x", fixture.Required("pair-a"))},
		"LongCycle": {
			reason: "a long cycle leaves the remedy readable", addOn: fixture.Registrations(long[0])[0],
			others: fixture.Registrations(strings.Join(long[1:], ",")),
			want:   []declaration.ProblemReason{declaration.ProblemCycle}, text: "make one",
		},
		"Several": {
			reason: "one's own first, then unregistered, then cycles", addOn: fixture.Registration(
				"x", fixture.Required("x"), fixture.Optional("gone"), fixture.Required("x"),
			),
			want: []declaration.ProblemReason{declaration.ProblemDuplicate, declaration.ProblemNotRegistered, declaration.ProblemCycle},
			text: "more than once",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			addOns := append([]addonv1alpha1.ClusterManagementAddOn{}, tc.others...)
			for _, addOn := range base {
				if addOn.Name != tc.addOn.Name {
					addOns = append(addOns, addOn)
				}
			}
			c := New(append(addOns, tc.addOn))
			problems := c.Problems(tc.addOn.Name)
			if diff := cmp.Diff(tc.want, reasonsOf(problems)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if len(problems) > 0 && !strings.Contains(problems[0].Message, tc.text) {
				t.Errorf("%s: %q is not in %q", tc.reason, tc.text, problems[0].Message)
			}
			checkProblems(t, problems)
			if diff := cmp.Diff(problems, c.Problems(tc.addOn.Name)); diff != "" {
				t.Errorf("asked again: %s", diff)
			}
		})
	}
	if got := New(fixture.Registrations(strings.Join(long, ","))).Problems(longName); len(got) != 1 {
		t.Errorf("one cycle, one problem; got %v", reasonsOf(got))
	}
	if got := New(nil).Problems("missing"); got != nil {
		t.Errorf("an unregistered add-on has no problems, got %v", got)
	}
}

func TestDependentsOfAliases(t *testing.T) {
	c := New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(
			t, "x",
			`dependencies: [{name: a}, {name: b, addOn: a}, {name: c, type: IfInstalled, version: "1"}, {name: d, api: {kind: Pod}}]`,
		),
	})
	for addOn, want := range map[string][]string{"a": {"x"}, "b": nil, "c": {"x"}, "d": nil} {
		if diff := cmp.Diff(want, c.Dependents(addOn)); diff != "" {
			t.Errorf("dependents of %s -want, +got:\n%s", addOn, diff)
		}
	}
	var dependents []string
	for _, problem := range c.Problems("x") {
		dependents = append(dependents, problem.Finding)
	}
	want := []string{`spec.dependencies: "a" has no ClusterManagementAddOn on this hub`}
	if diff := cmp.Diff(want, dependents); diff != "" {
		t.Errorf("problems -want, +got:\n%s", diff)
	}
}

func TestRenewCompilesOnlyNewDeclarations(t *testing.T) {
	const spec = `dependencies: [{name: a, when: {expression: "config.mode == 'proxy'"}}]`
	previous := New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", spec), fixture.Specified(t, "y", spec)})
	current := previous.Renew([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", spec), fixture.Specified(t, "y", strings.Replace(spec, "proxy", "direct", 1)),
	}, Templates{})
	program := func(c *Catalog, addOn string) *expression.Expression {
		return c.declarations[addOn].Edges[0].When.Expression
	}
	if program(previous, "x") != program(current, "x") {
		t.Error("compiled again although nothing changed")
	}
	if program(previous, "y") == program(current, "y") {
		t.Error("not compiled although it changed")
	}
	if diff := cmp.Diff([]string{"y"}, current.Changed(previous)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
