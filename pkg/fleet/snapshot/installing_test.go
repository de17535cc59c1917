package snapshot

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestTakeReadsInputsOfPlans tests the inputs of plans to install or remove add-ons: the label of installed add-ons, the template of a new
// add-on, and the decisions of Placements that no edge needs. A plan to remove add-ons also needs their field managers.
func TestTakeReadsInputsOfPlans(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{fleet.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	base := fixture.Specified(t, "base", `
supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: base-2}}]
installStrategy: {type: Placements, placements: [{namespace: places, name: all}]}`)
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "places", Name: "all-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "all"},
	}}
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "c1"}}
	leaf := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "c1", Name: "leaf", Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByPlugin, "other": "x"},
		Annotations: map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed, "other": "x"},
	}}
	hub := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().
		WithObjects(&base, decision, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}).Build()
	if err := hub.Create(t.Context(), leaf, client.FieldOwner("kubectl-addon")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		additions Additions
		selected  bool
		writers   int
	}{{Additions{}, false, 0}, {Additions{Placements: true}, true, 0}, {Additions{Writers: true}, false, 1}} {
		snapshot, err := Take(t.Context(), hub, "", test.additions)
		if err != nil {
			t.Fatal(err)
		}
		placements := snapshot.Declared.Install("base").Placements
		if selected, read, _ := snapshot.Selected(t.Context(), placements, "c1"); selected != test.selected || read != test.selected {
			t.Errorf("%v: selected %t, read %t", test.additions, selected, read)
		}
		if got := fleet.DefaultTemplate(&snapshot.Registrations[0]); got != "base-2" {
			t.Errorf("the template is %q", got)
		}
		addOn := snapshot.AddOnOn(types.NamespacedName{Namespace: "c1", Name: "leaf"})
		if len(addOn.ManagedFields) != test.writers {
			t.Errorf("%v: managed fields %v", test.additions, addOn.ManagedFields)
		}
		if !fleet.GateClosed(addOn) || len(addOn.Annotations) != 1 {
			t.Errorf("annotations %v", addOn.Annotations)
		}
		labels := addOn.Labels
		if len(labels) != 1 || labels[addonv1alpha1.InstalledByLabel] != addonv1alpha1.InstalledByPlugin {
			t.Errorf("labels %v", labels)
		}
	}
}
