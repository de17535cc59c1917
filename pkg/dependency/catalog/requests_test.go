package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestQuestions(t *testing.T) {
	c := New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", `
dependencies:
- {name: b, version: ">= 1"}
- {name: alias, addOn: a, version: ">= 1", when: {clusterSelector: {matchLabels: {a: b}}}}
- {name: any, version: "*"}
- {name: plain}
- {name: api, api: {group: g.example.io, kind: Thing}}
- {name: core, api: {version: v1, kind: Pod, fields: [spec.nodeName]}}`),
		fixture.Specified(
			t, "y",
			`dependencies: [{name: b, type: IfInstalled, version: "2"}, {name: api, api: {group: g.example.io, kind: Thing}}]`,
		),
		fixture.Specified(t, "z", `dependencies: [{name: b}]`),
		fixture.Specified(t, "fields", `
dependencies:
- {name: one, api: {group: g.example.io, kind: Thing, fields: [spec.c, spec.a]}}
- {name: two, api: {group: g.example.io, kind: Thing, fields: [spec.b, spec.a]}}`),
		fixture.Annotated("broken", "{"),
	})
	pod := addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Version: "v1", Kind: "Pod"}, Fields: []string{"spec.nodeName"}}
	thing := addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: "g.example.io", Kind: "Thing"}}
	withFields := thing
	withFields.Fields = []string{"spec.a", "spec.b", "spec.c"}
	for name, tc := range map[string]struct {
		installed []string
		want      Requests
	}{
		"Nothing":          {nil, Requests{}},
		"NothingRequested": {[]string{"z", "broken", "unregistered"}, Requests{}},
		"All":              {[]string{"x"}, Requests{APIs: []addonv1alpha1.DependencyAPI{pod, thing}, AddOns: []string{"a", "b"}}},
		"EachOnce":         {[]string{"y", "x"}, Requests{APIs: []addonv1alpha1.DependencyAPI{pod, thing}, AddOns: []string{"a", "b"}}},
		"Fields":           {[]string{"fields", "y"}, Requests{APIs: []addonv1alpha1.DependencyAPI{withFields}, AddOns: []string{"b"}}},
		"OnlyInstalled":    {[]string{"y"}, Requests{APIs: []addonv1alpha1.DependencyAPI{thing}, AddOns: []string{"b"}}},
	} {
		got := c.Requests(tc.installed...)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
		if got.Empty() != (name == "Nothing" || name == "NothingRequested") {
			t.Errorf("%s: Empty() = %t", name, got.Empty())
		}
	}
}
