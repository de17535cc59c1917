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
- {name: core, api: {version: v1, kind: Pod}}`),
		fixture.Specified(
			t, "y",
			`dependencies: [{name: b, type: IfInstalled, version: "2"}, {name: api, api: {group: g.example.io, kind: Thing}}]`,
		),
		fixture.Specified(t, "z", `dependencies: [{name: b}]`),
		fixture.Annotated("broken", "{"),
	})
	pod, thing := addonv1alpha1.AddonAPI{Version: "v1", Kind: "Pod"}, addonv1alpha1.AddonAPI{Group: "g.example.io", Kind: "Thing"}
	for name, tc := range map[string]struct {
		installed []string
		want      Requests
	}{
		"Nothing":          {nil, Requests{}},
		"NothingRequested": {[]string{"z", "broken", "unregistered"}, Requests{}},
		"All":              {[]string{"x"}, Requests{APIs: []addonv1alpha1.AddonAPI{pod, thing}, AddOns: []string{"a", "b"}}},
		"EachOnce":         {[]string{"y", "x"}, Requests{APIs: []addonv1alpha1.AddonAPI{pod, thing}, AddOns: []string{"a", "b"}}},
		"OnlyInstalled":    {[]string{"y"}, Requests{APIs: []addonv1alpha1.AddonAPI{thing}, AddOns: []string{"b"}}},
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
