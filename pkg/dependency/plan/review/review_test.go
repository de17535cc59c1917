package review

import (
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestConditionalCyclesAreWarnedOf(t *testing.T) {
	addOns := fixture.Conditional("x: y!private, y: x")
	review := new(Reviewer).Review(&addOns[0], nil, addOns[1:])
	if len(review.Denials) > 0 || len(review.Warnings) != 1 || !strings.Contains(review.Warnings[0], "x → y → x, where the conditions") {
		t.Errorf("%+v", review)
	}
}

func TestReview(t *testing.T) {
	hub := fixture.Registrations("base:, tunnel: base, gateway: tunnel")
	bothForms := fixture.Registration("new", fixture.Required("base"))
	bothForms.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: tunnel"}
	bothBad := fixture.Registration("base", fixture.Required("gateway"))
	bothBad.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "{"}
	untyped := addonv1alpha1.AddonDependency{Name: "base"}

	for _, test := range []struct {
		name            string
		addOn           addonv1alpha1.ClusterManagementAddOn
		denial, warning string // parts of the only message of each kind, or empty without one
		denials, warned int
	}{
		{name: "nothing declared", addOn: fixture.Registration("new")},
		{name: "all in order", addOn: fixture.Registration("new", fixture.Required("base"), fixture.Optional("tunnel"))},
		{name: "itself", addOn: fixture.Registration("new", fixture.Required("new")), denials: 1, denial: "new → new"},
		{
			name:    "itself by default type",
			addOn:   fixture.Registration("base", untyped, addonv1alpha1.AddonDependency{Name: "tunnel", Type: "Optional"}),
			denials: 1, denial: "base → base",
		},
		{name: "itself, Optional", addOn: fixture.Registration("new", fixture.Optional("new"))},
		{name: "itself in the annotation", addOn: fixture.Annotated("new", "[{name: new}]"), denials: 1, denial: "new → new"},
		{
			name: "twice", addOn: fixture.Registration("new", fixture.Required("base"), fixture.Optional("base")), denials: 1,
			denial: `spec.dependencies[1].name: "base" is declared more than once; remove`,
		},
		{
			name: "twice in the annotation", addOn: fixture.Annotated("new", "[{name: base}, {name: base}]"), denials: 1,
			denial: `metadata.annotations[`,
		},
		{
			name: "a cycle", addOn: fixture.Registration("base", fixture.Required("gateway")), denials: 1,
			denial: "base → gateway → tunnel → base; make one",
		},
		{
			name: "a cycle by the annotation", addOn: fixture.Annotated("base", "[{name: gateway}]"), denials: 1,
			denial: "base → gateway → tunnel → base",
		},
		{name: "a cycle that an Optional edge breaks", addOn: fixture.Registration("base", fixture.Optional("gateway"))},
		{
			name: "two cycles", addOn: fixture.Registration("base", fixture.Required("gateway"), fixture.Required("tunnel")),
			denials: 2, denial: "base → tunnel → base",
		},
		{
			name: "not registered", addOn: fixture.Registration("new", fixture.Required("missing")), warned: 1,
			warning: `"missing" has no ClusterManagementAddOn`,
		},
		{
			name: "not registered, in the annotation", addOn: fixture.Annotated("new", "[{name: missing}]"), warned: 1,
			warning: `metadata.annotations[`,
		},
		{name: "both forms", addOn: bothForms, warned: 1, warning: "is ignored because spec.dependencies is set"},
		{
			name: "both forms, the ignored one unreadable, the other a cycle", addOn: bothBad, denials: 1,
			denial: "base → gateway", warned: 1, warning: "is ignored",
		},
		{name: "an annotation that is no list", addOn: fixture.Annotated("new", "base"), denials: 1, denial: "metadata.annotations["},
		{name: "an annotation of an unknown type", addOn: fixture.Annotated("new", "[{name: base, type: Maybe}]"), denials: 1, denial: `"Maybe"`},
		{
			name:  "cycle and unknown at once",
			addOn: fixture.Registration("base", fixture.Required("gateway"), fixture.Required("missing")), denials: 1,
			denial: "gateway", warned: 1, warning: "missing",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := new(Reviewer).Review(&test.addOn, nil, hub)
			if len(got.Denials) != test.denials || !strings.Contains(strings.Join(got.Denials, "\n"), test.denial) {
				t.Errorf("denials %q, want %d with %q", got.Denials, test.denials, test.denial)
			}
			if len(got.Warnings) != test.warned || !strings.Contains(strings.Join(got.Warnings, "\n"), test.warning) {
				t.Errorf("warnings %q, want %d with %q", got.Warnings, test.warned, test.warning)
			}
		})
	}
}

func TestReviewOfAnUpdate(t *testing.T) {
	hub := fixture.Registrations("base: gateway, tunnel: base, gateway: tunnel, twin: base base")
	touched := func(addOn addonv1alpha1.ClusterManagementAddOn) addonv1alpha1.ClusterManagementAddOn {
		addOn.Labels, addOn.Generation = map[string]string{"a": "b"}, 7
		addOn.Spec.AddOnMeta.DisplayName = "other"
		return addOn
	}
	untyped := fixture.Registration("base", addonv1alpha1.AddonDependency{Name: "gateway"})
	empty := fixture.Registration("base")
	empty.Spec.Dependencies = []addonv1alpha1.AddonDependency{}

	for _, test := range []struct {
		name         string
		old, updated addonv1alpha1.ClusterManagementAddOn
		denied       bool
	}{
		{"a label on a member of a cycle", hub[0], touched(hub[0]), false},
		{"a label on one with duplicates", hub[3], touched(hub[3]), false},
		{"a label on an unreadable annotation", fixture.Annotated("x", "{"), touched(fixture.Annotated("x", "{")), false},
		{"the default written out", untyped, hub[0], false},
		{"the default left out", hub[0], untyped, false},
		{"the cycle broken", hub[0], fixture.Registration("base"), false},
		{"the cycle broken by an empty list", hub[0], empty, false},
		{"the cycle kept, another edge added", hub[0], fixture.Registration("base", fixture.Required("gateway"), fixture.Optional("twin")), true},
		{"the cycle closed", fixture.Registration("base"), hub[0], true},
		{"moved to the annotation", hub[0], fixture.Annotated("base", "[{name: gateway}]"), true},
		{"Optional becomes Required", fixture.Registration("base", fixture.Optional("gateway")), hub[0], true},
		{
			"a duplicate more", fixture.Registration("x", fixture.Required("base")),
			fixture.Registration("x", fixture.Required("base"), fixture.Required("base")), true,
		},
		{"another unreadable annotation", fixture.Annotated("x", "{"), fixture.Annotated("x", "["), true},
		{"the annotation removed", fixture.Annotated("x", "{"), fixture.Registration("x"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := new(Reviewer).Review(&test.updated, &test.old, hub)
			if denied := len(got.Denials) > 0; denied != test.denied {
				t.Errorf("denied %t %q, want %t", denied, got.Denials, test.denied)
			}
		})
	}
}

func TestReviewLeavesTheOthersAlone(t *testing.T) {
	hub := fixture.Registrations("a:, b: a, c: b")
	addOn := fixture.Registration("b", fixture.Required("c"))
	new(Reviewer).Review(&addOn, nil, hub)
	if hub[1].Spec.Dependencies[0].Name != "a" || hub[2].Name != "c" || hub[0].Name != "a" {
		t.Errorf("changed to %v", hub)
	}
}
