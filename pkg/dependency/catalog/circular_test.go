package catalog

import (
	"fmt"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

// choosing is an add-on with one edge that has these alternatives.
func choosing(t *testing.T, name, alternatives, suffix string) addonv1alpha1.ClusterManagementAddOn {
	t.Helper()
	var listed []string
	for alternative := range strings.FieldsSeq(alternatives) {
		listed = append(listed, "{addOn: "+alternative+"}")
	}
	return fixture.Specified(t, name, "dependencies: [{name: any, "+suffix+"anyOf: ["+strings.Join(listed, ", ")+"]}]")
}

func TestChangesOfAlternatives(t *testing.T) {
	others := fixture.Registrations("a:, b:, c:")
	previous := New(append(others, choosing(t, "x", "a b", "")))
	for name, tc := range map[string]struct {
		reason string
		others string
		x      addonv1alpha1.ClusterManagementAddOn
		want   string
	}{
		"Nothing":   {"the same", "a:, b:, c:", choosing(t, "x", "a b", ""), "[]"},
		"Other":     {"another alternative", "a:, b:, c:", choosing(t, "x", "a c", ""), "[x]"},
		"Order":     {"the message has them in the order declared", "a:, b:, c:", choosing(t, "x", "b a", ""), "[x]"},
		"WaitsBack": {"an alternative waits for x from now on", "a: c, b:, c: x", choosing(t, "x", "a b", ""), "[a c x]"},
	} {
		t.Run(name, func(t *testing.T) {
			current := New(append(fixture.Registrations(tc.others), tc.x))
			if got := fmt.Sprint(current.Changed(previous)); got != tc.want {
				t.Errorf("%s: changed are %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
	versioned := fixture.Registrations("a:, b:, c:")
	versioned[0] = fixture.Versioned(versioned[0], "1.0.0")
	ranged := fixture.Specified(t, "x", "dependencies: [{name: any, anyOf: [{addOn: a, version: '1'}, {addOn: b}]}]")
	if got := fmt.Sprint(New(append(versioned, ranged)).Changed(New(append(fixture.Registrations("a:, b:, c:"), ranged)))); got != "[x]" {
		t.Errorf("the version of an alternative changed: %s", got)
	}
}

func TestProblemsOfAlternatives(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		others string
		x      addonv1alpha1.ClusterManagementAddOn
		want   string
	}{
		"Fine":       {"all are registered", "a:, b:", choosing(t, "x", "a b", ""), ""},
		"OneMissing": {"one may be for another hub", "a:", choosing(t, "x", "a b", ""), ""},
		"AllMissing": {
			"none can be there", "c:", choosing(t, "x", "a b", ""),
			"DependencyNotRegistered spec.dependencies: none of 'a', 'b' has a ClusterManagementAddOn on this hub",
		},
		"OneCircular": {"another one is not", "a: x, b:", choosing(t, "x", "a b", ""), ""},
		"AllCircular": {
			"nothing satisfies it", "a: x, b: a", choosing(t, "x", "a b", ""),
			"DependencyCycle spec.dependencies: each alternative of \"any\" waits for the add-on itself: dependency cycle: a → x → a",
		},
		"Conditional": {"it may not apply", "a: x, b: a", choosing(t, "x", "a b", `when: {expression: "false"}, `), ""},
		"Optional":    {"it does not wait", "a: x, b: a", choosing(t, "x", "a b", "type: Optional, "), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, problem := range New(append(fixture.Registrations(tc.others), tc.x)).Problems("x") {
				got = append(got, string(problem.Reason)+" "+problem.Finding)
			}
			if strings.Join(got, "; ") != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// An outline, which admission uses, has the same problems as a catalog.
func TestAnOutlineHasAlternatives(t *testing.T) {
	var outline *Outline
	b := choosing(t, "b", "x c", "")
	x := choosing(t, "x", "a b", "")
	outline = outline.Renew(append(fixture.Registrations("a: x, c: a"), b))
	problems := outline.CatalogWith(&x).Problems("x")
	if len(problems) != 1 || problems[0].Reason != declaration.ProblemCycle {
		t.Errorf("got %v", problems)
	}
	if chain := outline.Chain("x", declaration.Read(&x)); chain != nil {
		t.Errorf("alternatives are no chain: %v", chain)
	}
}

// Each of many add-ons has 256 edges with 8 alternatives, and all wait for each other. This ends soon: a way is looked up for
// each edge, and all ways together are found once.
func TestManyAlternativesAreBounded(t *testing.T) {
	const addOns = 100
	var registrations []addonv1alpha1.ClusterManagementAddOn
	for i := range addOns {
		addOn := fixture.Registration(fmt.Sprintf("a%03d", i))
		for j := range 256 {
			edge := addonv1alpha1.AddonDependency{Name: fmt.Sprint("e", j)}
			for k := range 8 {
				edge.AnyOf = append(edge.AnyOf, addonv1alpha1.DependencyAlternative{AddOn: fmt.Sprintf("a%03d", (i+j+k*37+1)%addOns)})
			}
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
		}
		registrations = append(registrations, addOn)
	}
	c := New(registrations)
	k := c.Circular("a000")
	if k == nil || len(k.Members()) != addOns {
		t.Fatalf("got %v", k)
	}
	if problems := c.Problems("a000"); len(problems) != 256 {
		t.Errorf("%d problems", len(problems))
	}
}
