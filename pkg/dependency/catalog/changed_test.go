package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestChanged(t *testing.T) {
	broken, sound, different := fixture.Annotated("x", "{"), fixture.Annotated("x", "- name: a"), fixture.Annotated("x", "[")
	message := fixture.Registration("x", fixture.Required("a"))
	message.Spec.Dependencies[0].Message = "now with a reason"

	cases := map[string]struct {
		reason            string
		previous, current []addonv1alpha1.ClusterManagementAddOn
		want              []string
	}{
		"Nothing": {"equal catalogs", fixture.Registrations("a: b, b:"), fixture.Registrations("b:, a: b"), nil},
		"EdgeAdded": {
			"the dependent, not the dependency", fixture.Registrations("a:, b:"), fixture.Registrations("a: b, b:"),
			[]string{"a"},
		},
		"EdgeRemoved":  {"its condition is to be cleared", fixture.Registrations("a: b, b:"), fixture.Registrations("a:, b:"), []string{"a"}},
		"TypeSwitched": {"the reason differs", fixture.Registrations("a: b, b:"), fixture.Registrations("a: b?, b:"), []string{"a"}},
		"Message": {
			"the condition's text differs", fixture.Registrations("x: a"),
			[]addonv1alpha1.ClusterManagementAddOn{message},
			[]string{"x"},
		},
		"FieldToAnnot.": {
			"where it is declared makes no difference", fixture.Registrations("x: a"),
			[]addonv1alpha1.ClusterManagementAddOn{sound},
			nil,
		},
		"CycleAppears": {
			"all members, though only one was edited", fixture.Registrations("a: b, b: c, c:, x: a"),
			fixture.Registrations("a: b, b: c, c: a, x: a"),
			[]string{"a", "b", "c"},
		},
		"CycleVanishes": {
			"the same the other way", fixture.Registrations("a: b, b: a"), fixture.Registrations("a: b, b: a?"),
			[]string{"a", "b"},
		},
		"CycleShortened": {
			"the text of the cycle differs", fixture.Registrations("a: b, b: c, c: d, d: a"),
			fixture.Registrations("a: b, b: c, c: d a, d: a"),
			[]string{"a", "b", "c"},
		},
		"Invalid": {
			"verdicts are held from now on",
			[]addonv1alpha1.ClusterManagementAddOn{sound},
			[]addonv1alpha1.ClusterManagementAddOn{broken},
			[]string{"x"},
		},
		"Valid": {
			"verdicts are no longer held",
			[]addonv1alpha1.ClusterManagementAddOn{broken},
			[]addonv1alpha1.ClusterManagementAddOn{sound},
			[]string{"x"},
		},
		"InvalidToEmpty": {
			"no edges either way, yet held no more",
			[]addonv1alpha1.ClusterManagementAddOn{broken},
			fixture.Registrations("x:"),
			[]string{"x"},
		},
		"StillInvalid": {
			"held either way", []addonv1alpha1.ClusterManagementAddOn{broken}, []addonv1alpha1.ClusterManagementAddOn{different}, nil,
		},
		"Registered": {
			"an add-on may have been installed before", fixture.Registrations("a:"), fixture.Registrations("a:, c:, b: a"),
			[]string{"b", "c"},
		},
		"Removed": {
			"its add-ons may stay on clusters", fixture.Registrations("a:, c: a, b:"), fixture.Registrations("a:"),
			[]string{"b", "c"},
		},
		"Dependency": {
			"registering what is depended on changes no verdict of its dependents", fixture.Registrations("a: b"),
			fixture.Registrations("a: b, b:"),
			[]string{"b"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, New(tc.current).Changed(New(tc.previous))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Declarations with the same meaning are equal: pointers and empty lists do not matter.
func TestChangedByMeaning(t *testing.T) {
	const full = `
dependencies:
- {name: a, version: ">= 1", prereleases: {identifiers: [rc]}, when: {clusterSelector: {matchLabels: {a: b}}, expression: "true"}}
- {name: api, api: {kind: Pod}}
requirements: {kubernetes: ">= 1", claims: {a: b}}
provides: [{kind: Thing}]`
	a := fixture.Registration("a")
	catalog := func(x string, others ...addonv1alpha1.ClusterManagementAddOn) *Catalog {
		return New(append(others, fixture.Specified(t, "x", x)))
	}
	for name, tc := range map[string]struct {
		previous, current *Catalog
		want              []string
	}{
		"Same": {catalog(full, a), catalog(full, a), nil},
		"EmptyIdentifiers": {
			catalog(`dependencies: [{name: a, version: "1", prereleases: {}}]`),
			catalog(`dependencies: [{name: a, version: "1", prereleases: {identifiers: []}}]`), nil,
		},
		"Prereleases": {
			catalog(`dependencies: [{name: a, version: "1"}]`),
			catalog(`dependencies: [{name: a, version: "1", prereleases: {}}]`),
			[]string{"x"},
		},
		"Range":             {catalog(full), catalog(strings.Replace(full, ">= 1", ">= 2", 1)), []string{"x"}},
		"Selector":          {catalog(full), catalog(strings.Replace(full, "{a: b}", "{a: c}", 1)), []string{"x"}},
		"Expression":        {catalog(full), catalog(strings.Replace(full, "true", "false", 1)), []string{"x"}},
		"API":               {catalog(full), catalog(strings.Replace(full, "Pod", "Job", 1)), []string{"x"}},
		"Requirement":       {catalog(full), catalog(strings.Replace(full, "kubernetes", "ocm", 1)), []string{"x"}},
		"Provides":          {catalog(full), catalog(strings.Replace(full, "Thing", "Other", 1)), nil},
		"Version":           {catalog(full, a), catalog(full, fixture.Versioned(a, "1.2.3")), []string{"x"}},
		"VersionNotAsked":   {catalog(`dependencies: [{name: a}]`, a), catalog(`dependencies: [{name: a}]`, fixture.Versioned(a, "1.2.3")), nil},
		"Provider":          {catalog(full, a), catalog(full, fixture.Specified(t, "a", "provides: [{kind: Pod}]")), []string{"x"}},
		"ProviderNotAsked":  {catalog(full, a), catalog(full, fixture.Specified(t, "a", "provides: [{kind: Job}]")), nil},
		"ConditionOfAKnot":  {New(fixture.Conditional("x: y, y: x!a")), New(fixture.Conditional("x: y, y: x!b")), []string{"x", "y"}},
		"ConditionNotOnOne": {New(fixture.Conditional("x: y, y: z!a, z:")), New(fixture.Conditional("x: y, y: z!b, z:")), []string{"y"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.current.Changed(tc.previous)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestAVersionThatMovesToTheNewKeyIsAChange(t *testing.T) {
	dependent := fixture.Specified(t, "x", `dependencies: [{name: a, version: ">= 0.6.0"}]`)
	former, current := fixture.Registration("a"), fixture.Versioned(fixture.Registration("a"), "0.6.0")
	former.Annotations = map[string]string{addonv1alpha1.FormerVersionAnnotation: "0.6.0"}
	if SameRegistration(&former, &current) {
		t.Error("the keys count as one")
	}
	previous := New([]addonv1alpha1.ClusterManagementAddOn{dependent, former})
	moved := New([]addonv1alpha1.ClusterManagementAddOn{dependent, current})
	if got := moved.Changed(previous); !slices.Equal(got, []string{"x"}) {
		t.Errorf("changed: %v", got)
	}
}
