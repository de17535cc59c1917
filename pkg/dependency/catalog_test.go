package dependency

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestCatalog(t *testing.T) {
	c := NewCatalog(append(registrations("b: a, c:"), annotated("a", "- name: c\n  type: Optional")))
	if diff := cmp.Diff([]string{"a", "b", "c"}, c.AddOns()); diff != "" {
		t.Errorf("add-ons -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(Declaration{Dependencies: list{optional("c")}, Path: annotationPath.String()}, c.Declaration("a"), exported); diff != "" {
		t.Errorf("declaration -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(Declaration{}, c.Declaration("nobody"), exported); diff != "" {
		t.Errorf("an unregistered add-on declares nothing: %s", diff)
	}
	if got := NewCatalog(nil).AddOns(); len(got) != 0 {
		t.Errorf("an empty hub has no add-ons, got %v", got)
	}
}

func TestCatalogProblems(t *testing.T) {
	base := registrations("base:, pair-a: pair-b, pair-b: pair-a, legal-a: legal-b, legal-b: legal-a?")
	var long []string
	for i := range 60 {
		long = append(long, fmt.Sprintf("l%02d%s: l%02d%s", i, strings.Repeat("x", 200), (i+1)%60, strings.Repeat("x", 200)))
	}
	longName := "l00" + strings.Repeat("x", 200)

	cases := map[string]struct {
		reason string
		addOn  addonv1alpha1.ClusterManagementAddOn
		more   []addonv1alpha1.ClusterManagementAddOn
		want   []ProblemReason
		text   string
	}{
		"None":          {"a registered dependency is no problem", registration("x", required("base")), nil, nil, ""},
		"Invalid":       {"an unusable declaration has no edges to complain of", annotated("x", "{"), nil, []ProblemReason{ProblemInvalid}, "metadata.annotations"},
		"NotRegistered": {"each one is named, Optional or not", registration("x", required("gone"), optional("also")), nil, []ProblemReason{ProblemNotRegistered, ProblemNotRegistered}, `"gone"`},
		"IfInstalled":   {"nobody need have it", specified(t, "x", `dependencies: [{name: gone, type: IfInstalled, version: "1"}]`), nil, nil, ""},
		"Annotated":     {"the path is that of the declaration", annotated("x", "- name: gone"), nil, []ProblemReason{ProblemNotRegistered}, annotationPath.String()},
		"Self":          {"a cycle of one", registration("x", required("x")), nil, []ProblemReason{ProblemCycle}, "dependency cycle: x → x;"},
		"Cycle":         {"with a way out", registrations("pair-a: pair-b")[0], nil, []ProblemReason{ProblemCycle}, "pair-a → pair-b → pair-a; make one of these dependencies Optional, or remove it"},
		"Legal":         {"a pair that an Optional edge breaks", registrations("legal-a: legal-b")[0], nil, nil, ""},
		"Outsider":      {"depending on a cycle's member is no cycle", registration("x", required("pair-a")), nil, nil, ""},
		"LongCycle":     {"a long cycle leaves the remedy readable", registrations(long[0])[0], registrations(strings.Join(long[1:], ",")), []ProblemReason{ProblemCycle}, "make one"},
		"Several": {
			"one's own first, then unregistered, then cycles", registration("x", required("x"), optional("gone"), required("x")), nil,
			[]ProblemReason{ProblemDuplicate, ProblemNotRegistered, ProblemCycle},
			"more than once",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			addOns := append([]addonv1alpha1.ClusterManagementAddOn{}, tc.more...)
			for _, addOn := range base {
				if addOn.Name != tc.addOn.Name {
					addOns = append(addOns, addOn)
				}
			}
			c := NewCatalog(append(addOns, tc.addOn))
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
	if got := NewCatalog(registrations(strings.Join(long, ","))).Problems(longName); len(got) != 1 {
		t.Errorf("one cycle, one problem; got %v", reasonsOf(got))
	}
	if got := NewCatalog(nil).Problems("nobody"); got != nil {
		t.Errorf("an unregistered add-on has no problems, got %v", got)
	}
}

func TestChanged(t *testing.T) {
	broken, sound, other := annotated("x", "{"), annotated("x", "- name: a"), annotated("x", "[")
	message := registration("x", required("a"))
	message.Spec.Dependencies[0].Message = "now with a reason"

	cases := map[string]struct {
		reason        string
		before, after []addonv1alpha1.ClusterManagementAddOn
		want          []string
	}{
		"Nothing":        {"equal catalogs", registrations("a: b, b:"), registrations("b:, a: b"), nil},
		"EdgeAdded":      {"the dependent, not the dependency", registrations("a:, b:"), registrations("a: b, b:"), []string{"a"}},
		"EdgeRemoved":    {"its condition is to be cleared", registrations("a: b, b:"), registrations("a:, b:"), []string{"a"}},
		"TypeSwitched":   {"the reason differs", registrations("a: b, b:"), registrations("a: b?, b:"), []string{"a"}},
		"Message":        {"the condition's text differs", registrations("x: a"), []addonv1alpha1.ClusterManagementAddOn{message}, []string{"x"}},
		"FieldToAnnot.":  {"where it is declared makes no difference", registrations("x: a"), []addonv1alpha1.ClusterManagementAddOn{sound}, nil},
		"CycleAppears":   {"all members, though only one was edited", registrations("a: b, b: c, c:, x: a"), registrations("a: b, b: c, c: a, x: a"), []string{"a", "b", "c"}},
		"CycleVanishes":  {"the same the other way", registrations("a: b, b: a"), registrations("a: b, b: a?"), []string{"a", "b"}},
		"CycleShortened": {"the text of the cycle differs", registrations("a: b, b: c, c: d, d: a"), registrations("a: b, b: c, c: d a, d: a"), []string{"a", "b", "c"}},
		"Invalid":        {"verdicts are held from now on", []addonv1alpha1.ClusterManagementAddOn{sound}, []addonv1alpha1.ClusterManagementAddOn{broken}, []string{"x"}},
		"Valid":          {"verdicts are no longer held", []addonv1alpha1.ClusterManagementAddOn{broken}, []addonv1alpha1.ClusterManagementAddOn{sound}, []string{"x"}},
		"InvalidToEmpty": {"no edges either way, yet held no more", []addonv1alpha1.ClusterManagementAddOn{broken}, registrations("x:"), []string{"x"}},
		"StillInvalid":   {"held either way", []addonv1alpha1.ClusterManagementAddOn{broken}, []addonv1alpha1.ClusterManagementAddOn{other}, nil},
		"Registered":     {"an add-on may have been installed before", registrations("a:"), registrations("a:, c:, b: a"), []string{"b", "c"}},
		"Removed":        {"its add-ons may stay on clusters", registrations("a:, c: a, b:"), registrations("a:"), []string{"b", "c"}},
		"Dependency":     {"registering what is depended on changes no verdict of its dependents", registrations("a: b"), registrations("a: b, b:"), []string{"b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, NewCatalog(tc.after).Changed(NewCatalog(tc.before))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
