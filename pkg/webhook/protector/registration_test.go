package protector

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

// TestReviewOfRegistrations deletes a registration. leaf requires base. The clusters core1, core2 and edge have both add-ons. The
// other clusters are named for their state.
func TestReviewOfRegistrations(t *testing.T) {
	registered := func(name, spec string) *addonv1alpha1.ClusterManagementAddOn {
		return ptr.To(fixture.Specified(t, name, spec))
	}
	installed := func(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	}
	managed := func(name, tier string) *clusterv1.ManagedCluster {
		cluster := joined(name)
		cluster.Labels = map[string]string{"tier": tier}
		return cluster
	}
	lost := managed("lost", "core")
	lost.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown}}
	fleetObjects := []client.Object{
		registered("base", "{}"), registered("other", "{}"), registered("leaf", `dependencies: [{name: base}]`),
		managed("core1", "core"), installed("core1", "base"), installed("core1", "leaf"),
		managed("core2", "core"), installed("core2", "base"), installed("core2", "leaf"),
		managed("edge", "edge"), installed("edge", "base"), installed("edge", "leaf"),
		managed("without", "core"), installed("without", "base"),
		managed("only-leaf", "core"), installed("only-leaf", "leaf"),
		lost, installed("lost", "base"), installed("lost", "leaf"),
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "pending"}}, installed("pending", "base"), installed("pending", "leaf"),
		deleting(managed("leaving", "core")), installed("leaving", "base"), installed("leaving", "leaf"),
	}
	policy := func(spec string) []client.Object {
		return append([]client.Object{ptr.To(fixture.Policy(t, "p", spec))}, fleetObjects...)
	}
	const (
		allBreak     = "removing add-on 'base' would break 1 add-on on 3 clusters: leaf requires base (core1, core2 and 1 more)"
		core         = "removing add-on 'base' would break 1 add-on on 2 clusters: leaf requires base (core1, core2)"
		edge         = "removing add-on 'base' would break 1 add-on on 1 cluster: leaf requires base (edge)"
		eitherBreaks = "removing add-on 'base' would break 1 add-on on 1 cluster: leaf requires base or other (edge)"
		refusal      = ". Remove first what requires it. To remove it nevertheless: " +
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
		{name: "refused", removed: "base", mode: enforce, objects: fleetObjects, refuses: allBreak + refusal},
		{name: "warned of", removed: "base", mode: warn, objects: fleetObjects, warns: allBreak},
		{name: "not looked at", removed: "base", mode: off, objects: fleetObjects},
		{name: "what it owns stays", removed: "base", mode: enforce, objects: fleetObjects, options: `{"propagationPolicy":"Orphan"}`},
		{
			name: "what it owns is deleted first", removed: "base", mode: enforce, objects: fleetObjects,
			options: `{"propagationPolicy":"Foreground"}`, refuses: allBreak + refusal,
		},
		{name: "nobody requires it", removed: "other", mode: enforce, objects: fleetObjects},
		{
			name: "another alternative stays on some clusters", removed: "base", mode: enforce, refuses: eitherBreaks + refusal,
			objects: []client.Object{
				registered("base", "{}"), registered("other", "{}"),
				registered("leaf", `dependencies: [{name: any, anyOf: [{addOn: base}, {addOn: other}]}]`),
				managed("core1", "core"), installed("core1", "base"), installed("core1", "leaf"), available(installed("core1", "other")),
				managed("edge", "edge"), available(installed("edge", "base")), installed("edge", "leaf"),
			},
		},
		{
			name: "another alternative is being deleted", removed: "base", mode: enforce, refuses: eitherBreaks + refusal,
			objects: []client.Object{
				registered("base", "{}"), registered("other", "{}"),
				registered("leaf", `dependencies: [{name: any, anyOf: [{addOn: base}, {addOn: other}]}]`),
				managed("edge", "edge"), available(installed("edge", "base")), installed("edge", "leaf"),
				deleting(available(installed("edge", "other"))),
			},
		},
		{
			name: "another alternative is an API that the hub does not serve", removed: "base", mode: enforce,
			refuses: strings.Replace(eitherBreaks, "other", "Bridge on the hub", 1) + refusal,
			objects: []client.Object{
				registered("base", "{}"),
				registered("leaf", `dependencies: [{name: any, anyOf: [{addOn: base}, {api: {kind: Bridge, servedBy: Hub}}]}]`),
				managed("edge", "edge"), available(installed("edge", "base")), installed("edge", "leaf"),
			},
		},
		{
			name: "another alternative may be an API", removed: "base", mode: enforce,
			objects: []client.Object{
				registered("base", "{}"), registered("leaf", `dependencies: [{name: any, anyOf: [{addOn: base}, {api: {kind: Tunnel}}]}]`),
				managed("edge", "edge"), installed("edge", "base"), installed("edge", "leaf"),
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
			name: "add-ons cannot be read", removed: "base", mode: enforce, objects: fleetObjects, fails: failing{list: "add-ons"},
			warns: "whether other add-ons require 'base' was not checked: list add-on leaf of the fleet: the hub is busy",
		},
		{
			name: "clusters cannot be read", removed: "base", mode: enforce, objects: fleetObjects, fails: failing{list: "clusters"},
			warns: "whether other add-ons require 'base' was not checked: list managed clusters: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := admissionv1.AdmissionRequest{Resource: metav1.GroupVersionResource{Resource: "clustermanagementaddons"}}
			request.Options.Raw = []byte(test.options)
			response, _ := handleRequest(t, test.mode, test.fails, request, test.removed, test.objects...)
			expect(t, response, test.refuses, test.warns)
		})
	}
}
