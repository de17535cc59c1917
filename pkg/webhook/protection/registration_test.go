package protection

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestReviewOfRegistrations: base is on five clusters, and leaf requires it on those that are not named for something
// else.
func TestReviewOfRegistrations(t *testing.T) {
	registered := func(name, spec string) *addonv1alpha1.ClusterManagementAddOn {
		return ptr.To(fixture.Specified(t, name, spec))
	}
	on := func(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	}
	managed := func(name, tier string) *clusterv1.ManagedCluster {
		cluster := joined(name)
		cluster.Labels = map[string]string{"tier": tier}
		return cluster
	}
	lost := managed("lost", "core")
	lost.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown}}
	fleetOf := []client.Object{
		registered("base", "{}"), registered("other", "{}"), registered("leaf", `dependencies: [{name: base}]`),
		managed("core1", "core"), on("core1", "base"), on("core1", "leaf"),
		managed("core2", "core"), on("core2", "base"), on("core2", "leaf"),
		managed("edge", "edge"), on("edge", "base"), on("edge", "leaf"),
		managed("without", "core"), on("without", "base"),
		managed("only-leaf", "core"), on("only-leaf", "leaf"),
		lost, on("lost", "base"), on("lost", "leaf"),
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "pending"}}, on("pending", "base"), on("pending", "leaf"),
		deleting(managed("leaving", "core")), on("leaving", "base"), on("leaving", "leaf"),
	}
	policy := func(spec string) []client.Object {
		return append([]client.Object{ptr.To(fixture.Policy(t, "p", spec))}, fleetOf...)
	}
	const (
		all     = "removing add-on 'base' would break 1 add-on on 3 clusters: leaf requires base (core1, core2 and 1 more)"
		core    = "removing add-on 'base' would break 1 add-on on 2 clusters: leaf requires base (core1, core2)"
		edge    = "removing add-on 'base' would break 1 add-on on 1 cluster: leaf requires base (edge)"
		either  = "removing add-on 'base' would break 1 add-on on 1 cluster: leaf requires base or other (edge)"
		refusal = ". Remove first what requires it. To remove it nevertheless: " +
			"kubectl annotate clustermanagementaddon base dependency.addon.open-cluster-management.io/force='<why>'"
		enforce, warn, off = dependencyv1alpha1.ProtectionEnforce, dependencyv1alpha1.ProtectionWarn, dependencyv1alpha1.ProtectionOff
	)
	for _, test := range []struct {
		name, removed  string
		options        string
		mode           dependencyv1alpha1.Protection
		objects        []client.Object
		refuses, warns string
		fails          failing
	}{
		{name: "refused", removed: "base", mode: enforce, objects: fleetOf, refuses: all + refusal},
		{name: "warned of", removed: "base", mode: warn, objects: fleetOf, warns: all},
		{name: "not looked at", removed: "base", mode: off, objects: fleetOf},
		{name: "what it owns stays", removed: "base", mode: enforce, objects: fleetOf, options: `{"propagationPolicy":"Orphan"}`},
		{
			name: "what it owns is deleted first", removed: "base", mode: enforce, objects: fleetOf,
			options: `{"propagationPolicy":"Foreground"}`, refuses: all + refusal,
		},
		{name: "nobody requires it", removed: "other", mode: enforce, objects: fleetOf},
		{
			name: "another alternative stays on some clusters", removed: "base", mode: enforce, refuses: either + refusal,
			objects: []client.Object{
				registered("base", "{}"), registered("other", "{}"),
				registered("leaf", `dependencies: [{name: any, anyOf: [{addOn: base}, {addOn: other}]}]`),
				managed("core1", "core"), on("core1", "base"), on("core1", "leaf"), available(on("core1", "other")),
				managed("edge", "edge"), available(on("edge", "base")), on("edge", "leaf"),
			},
		},
		{
			name: "another alternative is being deleted", removed: "base", mode: enforce, refuses: either + refusal,
			objects: []client.Object{
				registered("base", "{}"), registered("other", "{}"),
				registered("leaf", `dependencies: [{name: any, anyOf: [{addOn: base}, {addOn: other}]}]`),
				managed("edge", "edge"), available(on("edge", "base")), on("edge", "leaf"), deleting(available(on("edge", "other"))),
			},
		},
		{
			name: "another alternative is an API that the hub does not serve", removed: "base", mode: enforce,
			refuses: strings.Replace(either, "other", "Bridge on the hub", 1) + refusal,
			objects: []client.Object{
				registered("base", "{}"),
				registered("leaf", `dependencies: [{name: any, anyOf: [{addOn: base}, {api: {kind: Bridge, servedBy: Hub}}]}]`),
				managed("edge", "edge"), available(on("edge", "base")), on("edge", "leaf"),
			},
		},
		{
			name: "another alternative may be an API", removed: "base", mode: enforce,
			objects: []client.Object{
				registered("base", "{}"), registered("leaf", `dependencies: [{name: any, anyOf: [{addOn: base}, {api: {kind: Tunnel}}]}]`),
				managed("edge", "edge"), on("edge", "base"), on("edge", "leaf"),
			},
		},
		{
			name: "refused on some clusters", removed: "base", mode: warn, refuses: edge + refusal,
			objects: policy("{protection: Enforce, clusterSelector: {matchLabels: {tier: edge}}}"),
		},
		{
			name: "not looked at on some clusters", removed: "base", mode: enforce, refuses: core + refusal,
			objects: policy(`{protection: "Off", clusterSelector: {matchLabels: {tier: edge}}}`),
		},
		{
			name: "waived on some clusters", removed: "base", mode: enforce, refuses: core + refusal,
			objects: policy(`{clusterSelector: {matchLabels: {tier: edge}}, overrides: [{addOn: leaf, dependency: base, type: Optional}]}`),
		},
		{
			name: "add-ons cannot be read", removed: "base", mode: enforce, objects: fleetOf, fails: failing{list: "add-ons"},
			warns: "whether other add-ons require 'base' was not checked: list add-on leaf of the fleet: the hub is busy",
		},
		{
			name: "clusters cannot be read", removed: "base", mode: enforce, objects: fleetOf, fails: failing{list: "clusters"},
			warns: "whether other add-ons require 'base' was not checked: list managed clusters: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := admissionv1.AdmissionRequest{Resource: metav1.GroupVersionResource{Resource: "clustermanagementaddons"}}
			request.Options.Raw = []byte(test.options)
			response, _ := reviewed(t, test.mode, test.fails, request, test.removed, test.objects...)
			expect(t, response, test.refuses, test.warns)
		})
	}
}
