package dependency

import (
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestReview(t *testing.T) {
	hub := registrations("base:, tunnel: base, gateway: tunnel")
	both := registration("new", required("base"))
	both.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: tunnel"}
	bothBad := registration("base", required("gateway"))
	bothBad.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "{"}
	untyped := addonv1alpha1.AddonDependency{Name: "base"}

	for _, test := range []struct {
		name            string
		addOn           addonv1alpha1.ClusterManagementAddOn
		denial, warning string // what the only one says; empty: there is none
		denials, warned int
	}{
		{name: "nothing declared", addOn: registration("new")},
		{name: "all in order", addOn: registration("new", required("base"), optional("tunnel"))},
		{name: "itself", addOn: registration("new", required("new")), denials: 1, denial: "new → new"},
		{name: "itself by default type", addOn: registration("base", untyped, addonv1alpha1.AddonDependency{Name: "tunnel", Type: "Optional"}), denials: 1, denial: "base → base"},
		{name: "itself, Optional", addOn: registration("new", optional("new"))},
		{name: "itself in the annotation", addOn: annotated("new", "[{name: new}]"), denials: 1, denial: "new → new"},
		{name: "twice", addOn: registration("new", required("base"), optional("base")), denials: 1, denial: `spec.dependencies[1].name: "base" is declared more than once; remove`},
		{name: "twice in the annotation", addOn: annotated("new", "[{name: base}, {name: base}]"), denials: 1, denial: `metadata.annotations[`},
		{name: "a cycle", addOn: registration("base", required("gateway")), denials: 1, denial: "base → gateway → tunnel → base; make one"},
		{name: "a cycle by the annotation", addOn: annotated("base", "[{name: gateway}]"), denials: 1, denial: "base → gateway → tunnel → base"},
		{name: "a cycle that an Optional edge breaks", addOn: registration("base", optional("gateway"))},
		{name: "two cycles", addOn: registration("base", required("gateway"), required("tunnel")), denials: 2, denial: "base → tunnel → base"},
		{name: "not registered", addOn: registration("new", required("missing")), warned: 1, warning: `"missing" has no ClusterManagementAddOn`},
		{name: "not registered, in the annotation", addOn: annotated("new", "[{name: missing}]"), warned: 1, warning: `metadata.annotations[`},
		{name: "both forms", addOn: both, warned: 1, warning: "is ignored because spec.dependencies is set"},
		{name: "both forms, the ignored one unreadable, the other a cycle", addOn: bothBad, denials: 1, denial: "base → gateway", warned: 1, warning: "is ignored"},
		{name: "an annotation that is no list", addOn: annotated("new", "base"), denials: 1, denial: "metadata.annotations["},
		{name: "an annotation of an unknown type", addOn: annotated("new", "[{name: base, type: Maybe}]"), denials: 1, denial: `"Maybe"`},
		{name: "cycle and unknown at once", addOn: registration("base", required("gateway"), required("missing")), denials: 1, denial: "gateway", warned: 1, warning: "missing"},
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
	hub := registrations("base: gateway, tunnel: base, gateway: tunnel, twin: base base")
	touched := func(addOn addonv1alpha1.ClusterManagementAddOn) addonv1alpha1.ClusterManagementAddOn {
		addOn.Labels, addOn.Generation = map[string]string{"a": "b"}, 7
		addOn.Spec.AddOnMeta.DisplayName = "other"
		return addOn
	}
	untyped := registration("base", addonv1alpha1.AddonDependency{Name: "gateway"})
	empty := registration("base")
	empty.Spec.Dependencies = []addonv1alpha1.AddonDependency{}

	for _, test := range []struct {
		name          string
		before, after addonv1alpha1.ClusterManagementAddOn
		denied        bool
	}{
		{"a label on a member of a cycle", hub[0], touched(hub[0]), false},
		{"a label on one with duplicates", hub[3], touched(hub[3]), false},
		{"a label on an unreadable annotation", annotated("x", "{"), touched(annotated("x", "{")), false},
		{"the default written out", untyped, hub[0], false},
		{"the default left out", hub[0], untyped, false},
		{"the cycle broken", hub[0], registration("base"), false},
		{"the cycle broken by an empty list", hub[0], empty, false},
		{"the cycle kept, another edge added", hub[0], registration("base", required("gateway"), optional("twin")), true},
		{"the cycle closed", registration("base"), hub[0], true},
		{"moved to the annotation", hub[0], annotated("base", "[{name: gateway}]"), true},
		{"Optional becomes Required", registration("base", optional("gateway")), hub[0], true},
		{"a duplicate more", registration("x", required("base")), registration("x", required("base"), required("base")), true},
		{"another unreadable annotation", annotated("x", "{"), annotated("x", "["), true},
		{"the annotation removed", annotated("x", "{"), registration("x"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := new(Reviewer).Review(&test.after, &test.before, hub)
			if denied := len(got.Denials) > 0; denied != test.denied {
				t.Errorf("denied %t %q, want %t", denied, got.Denials, test.denied)
			}
		})
	}
}

func TestReviewLeavesTheOthersAlone(t *testing.T) {
	hub := registrations("a:, b: a, c: b")
	addOn := registration("b", required("c"))
	new(Reviewer).Review(&addOn, nil, hub)
	if hub[1].Spec.Dependencies[0].Name != "a" || hub[2].Name != "c" || hub[0].Name != "a" {
		t.Errorf("changed to %v", hub)
	}
}
