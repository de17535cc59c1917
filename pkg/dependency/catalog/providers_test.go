package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestProvided: each kind once, sorted and without versions, of all that an add-on declares, on its AddOnTemplates too.
func TestProvided(t *testing.T) {
	declared := New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "widgets",
			"provides: [{group: b.io, kind: Widget, version: v2}, {group: b.io, kind: Widget, version: v1}, {group: a.io, kind: Widget}]"),
		fixture.Specified(t, "core", "provides: [{kind: Thing}, {group: a.io, kind: Widget, version: v3}]"),
		fixture.Specified(t, "newer", `{requirements: {interlock: ">= 99"}, provides: [{kind: "no kind"}]}`),
		fixture.Specified(t, "none", "dependencies: [{name: core}]"),
	})
	kind := func(group, kind string) addonv1alpha1.AddonAPI {
		return addonv1alpha1.AddonAPI{Group: group, Kind: kind}
	}
	for _, test := range []struct {
		name   string
		addOns []string
		want   []addonv1alpha1.AddonAPI
	}{
		{
			name: "in several versions", addOns: []string{"widgets"},
			want: []addonv1alpha1.AddonAPI{kind("a.io", "Widget"), kind("b.io", "Widget")},
		},
		{
			name: "by several add-ons", addOns: []string{"widgets", "core", "none"},
			want: []addonv1alpha1.AddonAPI{kind("", "Thing"), kind("a.io", "Widget"), kind("b.io", "Widget")},
		},
		{name: "nothing", addOns: []string{"none"}},
		{name: "what another Interlock understands", addOns: []string{"newer"}},
		{name: "by an add-on that is not registered", addOns: []string{"other"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, declared.Provided(test.addOns...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
