package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	for name, tc := range map[string]struct { // of add-ons that one cluster has, and whose agents run there
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

func TestCompared(t *testing.T) {
	templated := fixture.Deployed(fixture.Registration("y"))
	c := New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", `
dependencies:
- {name: a, version: ">= 1"}
- {name: plain}
- {name: all, version: "*"}
- {name: never, type: Conflicts, version: "< 2"}
- {name: any, anyOf: [{addOn: one, version: ">= 1"}, {addOn: two}]}`),
		templated,
	}, fixture.Template("y", "y-2", `[{name: b, type: IfInstalled, version: "> 2"}]`))
	for addOn, want := range map[string]bool{
		"a": true, "plain": false, "all": false, "never": true, "one": true, "two": false, "b": true, "x": false, "unregistered": false,
	} {
		if c.Compared(addOn) != want {
			t.Errorf("Compared(%s) = %t", addOn, !want)
		}
	}
}

func TestRequestsByCluster(t *testing.T) {
	c := New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", `
dependencies:
- {name: versioned, version: ">= 1"}
- {name: here, api: {kind: Here}}
- {name: too, api: {kind: Here, servedBy: ManagedCluster, fields: [spec.a]}}
- {name: hub, api: {kind: OnHub, servedBy: Hub, fields: [spec.b]}}
- {name: host, api: {kind: OnHost, servedBy: HostingCluster}}`),
		fixture.Specified(t, "y", `dependencies: [{name: hub, api: {kind: OnHub, servedBy: Hub, fields: [spec.a]}}]`),
	})
	api := func(kind string, fields ...string) addonv1alpha1.DependencyAPI {
		return addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Kind: kind}, Fields: fields}
	}
	managed, onHost := api("Here", "spec.a"), api("OnHost")
	for name, tc := range map[string]struct {
		reason    string
		installed Installed
		want      Requests
	}{
		"Own": {
			"the cluster runs the agent itself",
			Installed{Own: []string{"x"}},
			Requests{APIs: []addonv1alpha1.DependencyAPI{managed, onHost}, AddOns: []string{"versioned"}},
		},
		"Hosted": {
			"another cluster has to serve the API",
			Installed{Hosted: []string{"x"}},
			Requests{APIs: []addonv1alpha1.DependencyAPI{managed}, AddOns: []string{"versioned"}},
		},
		"Hosting": {
			"nothing but that API matters there", Installed{Hosting: []string{"x"}}, Requests{APIs: []addonv1alpha1.DependencyAPI{onHost}},
		},
		"OnlyHub": {"no agent reports on the hub", Installed{Own: []string{"y"}, Hosting: []string{"y"}}, Requests{}},
	} {
		if diff := cmp.Diff(tc.want, c.RequestsOf(tc.installed), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
		}
	}
	if diff := cmp.Diff([]addonv1alpha1.DependencyAPI{api("OnHub", "spec.a", "spec.b")}, c.HubAPIs()); diff != "" {
		t.Errorf("hub: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]addonv1alpha1.DependencyAPI{api("OnHub", "spec.a")}, c.HubAPIs("y")); diff != "" {
		t.Errorf("hub, of one add-on: -want, +got:\n%s", diff)
	}
}
