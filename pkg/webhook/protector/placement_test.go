package protector

import (
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

// placed sets the Placements by which OCM installs an add-on. Without any, it is installed by hand.
func placed(addOn addonv1alpha1.ClusterManagementAddOn, placements ...string) *addonv1alpha1.ClusterManagementAddOn {
	addOn.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	for _, name := range placements {
		addOn.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyPlacements
		addOn.Spec.InstallStrategy.Placements = append(addOn.Spec.InstallStrategy.Placements, ocmv1alpha1.PlacementStrategy{
			PlacementRef: ocmv1alpha1.PlacementRef{Namespace: "default", Name: name},
		})
	}
	return &addOn
}

// reasoned sets the annotation that forces a change.
func reasoned(addOn *addonv1alpha1.ClusterManagementAddOn) *addonv1alpha1.ClusterManagementAddOn {
	addOn.Annotations = map[string]string{addonv1alpha1.ForceAnnotation: "moving"}
	return addOn
}

// selecting returns a Placement and its PlacementDecision.
func selecting(name string, clusters ...string) []client.Object {
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name + "-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: name},
	}}
	for _, cluster := range clusters {
		decision.Status.Decisions = append(decision.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return []client.Object{&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}, decision}
}

// ownLife leaves an add-on to its own manager.
func ownLife(addOn *addonv1alpha1.ClusterManagementAddOn) *addonv1alpha1.ClusterManagementAddOn {
	addOn.Annotations = map[string]string{ocmv1alpha1.AddonLifecycleAnnotationKey: ocmv1alpha1.AddonLifecycleSelfManageAnnotationValue}
	return addOn
}

// joined returns a managed cluster that is available.
func joined(name string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	return cluster
}

// threeClusters returns a hub with three clusters that have base and leaf. leaf requires base. Placement all selects the three, first
// selects c1, second selects c2, and new has no PlacementDecision yet.
func threeClusters(registered ...client.Object) []client.Object {
	objects := slices.Concat(registered, selecting("all", "c1", "c2", "c3"), selecting("first", "c1"), selecting("second", "c2"),
		selecting("new")[:1])
	for _, name := range []string{"c1", "c2", "c3"} {
		objects = append(objects, joined(name))
		for _, addOn := range []string{"base", "leaf"} {
			objects = append(objects, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: addOn}})
		}
	}
	return objects
}

// deletingBase begins to delete base from clusters.
func deletingBase(objects []client.Object, clusters ...string) []client.Object {
	for _, object := range objects {
		if object.GetName() == "base" && slices.Contains(clusters, object.GetNamespace()) {
			deleting(object)
		}
	}
	return objects
}

const onThree = "would break 1 add-on on 3 clusters: leaf requires base (c1, c2 and 1 more)"

// TestReviewOfPlacements deletes Placement all.
func TestReviewOfPlacements(t *testing.T) {
	base, leaf := fixture.Registration("base"), fixture.Registration("leaf", fixture.Required("base"))
	const (
		deletes = "deleting Placement 'default/all' removes what it installs, and "
		refusal = ". Remove first what requires it. To remove it nevertheless: " +
			"kubectl annotate placement all -n default dependency.addon.open-cluster-management.io/force='<why>'"
		unchecked = "whether add-ons require what Placement 'all' installs was not checked: "
		enforce   = dependencyv1alpha1.ProtectionEnforce
	)
	for _, test := range []struct {
		name           string
		registered     []client.Object
		deleting       []string
		mode           dependencyv1alpha1.Protection
		fails          failing
		refuses, warns string
	}{
		{name: "it installs nothing", registered: []client.Object{placed(base), placed(leaf)}, mode: enforce},
		{name: "it installs what nothing requires", registered: []client.Object{placed(base), placed(leaf, "all")}, mode: enforce},
		{
			name: "it installs what is required", registered: []client.Object{placed(base, "all"), placed(leaf)}, mode: enforce,
			refuses: deletes + onThree + refusal,
		},
		{
			name: "with a warning", registered: []client.Object{placed(base, "all"), placed(leaf)}, mode: dependencyv1alpha1.ProtectionWarn,
			warns: deletes + onThree,
		},
		{
			name: "what requires it too", registered: []client.Object{placed(base, "all"), placed(leaf, "all")}, mode: enforce,
		},
		{
			name: "what requires it too, but on one cluster", registered: []client.Object{placed(base, "all"), placed(leaf, "first", "all")},
			mode: enforce, refuses: deletes + "would break 1 add-on on 1 cluster: leaf requires base (c1)" + refusal,
		},
		{
			name: "others install it too, but on one cluster", mode: enforce,
			registered: []client.Object{placed(base, "first", "all", "second"), placed(leaf)},
			refuses:    deletes + "would break 1 add-on on 1 cluster: leaf requires base (c3)" + refusal,
		},
		{
			name: "one that is deleted already installs it too, by decisions that are not deleted yet", mode: enforce,
			registered: append([]client.Object{placed(base, "all", "gone"), placed(leaf)}, selecting("gone", "c1", "c2", "c3")[1]),
			refuses:    deletes + onThree + refusal,
		},
		{
			name: "it is being deleted already, but on one cluster", mode: enforce, registered: []client.Object{placed(base, "all"), placed(leaf)},
			deleting: []string{"c1", "c2"}, refuses: deletes + "would break 1 add-on on 1 cluster: leaf requires base (c3)" + refusal,
		},
		{name: "its own manager installs it", registered: []client.Object{ownLife(placed(base, "all")), placed(leaf)}, mode: enforce},
		{
			name: "what it selects cannot be read", registered: []client.Object{placed(base, "all"), placed(leaf)}, mode: enforce,
			fails: failing{list: "decisions"}, warns: unchecked + "list what Placement default/all selects: the hub is busy",
		},
		{
			name: "registrations cannot be read", registered: []client.Object{placed(base, "all"), placed(leaf)}, mode: enforce,
			fails: failing{list: "registrations"}, warns: unchecked + "list registered add-ons: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := admissionv1.AdmissionRequest{Name: "all", Resource: metav1.GroupVersionResource{Resource: "placements"}}
			response, _ := handleRequest(t, test.mode, test.fails, request, "all",
				deletingBase(threeClusters(test.registered...), test.deleting...)...)
			expect(t, response, test.refuses, test.warns)
		})
	}
}

// TestPlacementOfAlternatives deletes a Placement that installs both alternatives of leaf. The edge counts once.
func TestPlacementOfAlternatives(t *testing.T) {
	leaf := fixture.Specified(t, "leaf", "dependencies: [{name: either, anyOf: [{addOn: base}, {addOn: other}]}]")
	objects := threeClusters(placed(fixture.Registration("base"), "all"), placed(fixture.Registration("other"), "all"), &leaf)
	for _, cluster := range []string{"c1", "c2", "c3"} {
		objects = slices.DeleteFunc(objects, isAddOn("base", cluster))
		objects = append(objects, installedOn(cluster, available(addOn("base"))), installedOn(cluster, available(addOn("other"))))
	}
	request := admissionv1.AdmissionRequest{Name: "all", Resource: metav1.GroupVersionResource{Resource: "placements"}}
	response, _ := handleRequest(t, dependencyv1alpha1.ProtectionWarn, failing{}, request, "all", objects...)
	expect(t, response, "", "deleting Placement 'default/all' removes what it installs, and "+
		"would break 1 add-on on 3 clusters: leaf requires base or other (c1, c2 and 1 more)")
}

// TestReviewOfStrategies changes how OCM installs base.
func TestReviewOfStrategies(t *testing.T) {
	base, leaf := fixture.Registration("base"), fixture.Registration("leaf", fixture.Required("base"))
	templated := placed(base, "all")
	templated.Spec.InstallStrategy.Placements[0].Configs = []ocmv1alpha1.AddOnConfig{{
		ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: "v2"},
	}}
	const (
		changes = "the new install strategy of add-on 'base' "
		on2and3 = "would break 1 add-on on 2 clusters: leaf requires base (c2, c3)"
		refusal = ". Remove first what requires it. To remove it nevertheless: " +
			"kubectl annotate clustermanagementaddon base dependency.addon.open-cluster-management.io/force='<why>'"
	)
	for _, test := range []struct {
		name           string
		old, updated   *addonv1alpha1.ClusterManagementAddOn
		fails          failing
		refuses, warns string
	}{
		{name: "another Placement", old: placed(base, "all"), updated: placed(base, "first"), refuses: changes + on2and3 + refusal},
		{name: "one less", old: placed(base, "first", "all"), updated: placed(base, "first"), refuses: changes + on2and3 + refusal},
		{name: "one less, of two that select it", old: placed(base, "first", "all"), updated: placed(base, "all")},
		{name: "one more", old: placed(base, "first"), updated: placed(base, "first", "second")},
		{name: "one that has not selected yet", old: placed(base, "all"), updated: placed(base, "first", "new")},
		{name: "one that does not exist yet", old: placed(base, "all"), updated: placed(base, "first", "planned")},
		{
			name: "one less, of one that does not exist", old: placed(base, "planned", "all"), updated: placed(base, "planned"),
			refuses: changes + onThree + refusal,
		},
		{
			name: "with a reason before", old: reasoned(placed(base, "all")), updated: placed(base, "first"), refuses: changes + on2and3 + refusal,
		},
		{
			name: "with a reason", old: placed(base, "all"), updated: reasoned(placed(base, "first")),
			warns: changes + on2and3 + ". It is removed nevertheless: moving",
		},
		{name: "by hand, for which OCM removes nothing", old: placed(base, "all"), updated: placed(base)},
		{name: "by Placements where it was by hand", old: placed(base), updated: placed(base, "first"), refuses: changes + on2and3 + refusal},
		{name: "another configuration", old: placed(base, "all"), updated: templated},
		{name: "by its own manager", old: placed(base, "all"), updated: ownLife(placed(base, "first"))},
		{
			name: "by OCM where its own manager did", old: ownLife(placed(base, "all")), updated: placed(base, "first"),
			refuses: changes + on2and3 + refusal,
		},
		{
			name: "what is selected cannot be read", old: placed(base, "all"), updated: placed(base, "first"), fails: failing{list: "decisions"},
			warns: "whether other add-ons require 'base' was not checked: list what Placement default/first selects: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := admissionv1.AdmissionRequest{
				Operation: admissionv1.Update, Resource: metav1.GroupVersionResource{Resource: "clustermanagementaddons"},
			}
			request.OldObject.Raw, request.Object.Raw = raw(t, test.old), raw(t, test.updated)
			response, _ := handleRequest(t, dependencyv1alpha1.ProtectionEnforce, test.fails, request, "base",
				threeClusters(test.old, placed(leaf))...)
			expect(t, response, test.refuses, test.warns)
		})
	}
}
