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

// Where add-ons may be installed or removed, it matters what installs them: the label of those that are there, the template that
// one would run, and what its Placements select although nothing needs it. Who has written them matters where they may be removed.
func TestWhatInstallsIsRead(t *testing.T) {
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
	}}
	hub := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().
		WithObjects(&base, decision, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}).Build()
	if err := hub.Create(t.Context(), leaf, client.FieldOwner("kubectl-addon")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		also     Also
		selected bool
		writers  int
	}{{Also{}, false, 0}, {Also{Placements: true}, true, 0}, {Also{Writers: true}, false, 1}} {
		taken, err := Take(t.Context(), hub, "", test.also)
		if err != nil {
			t.Fatal(err)
		}
		placements := taken.Declared.Install("base").Placements
		if selected, read, _ := taken.Selected(t.Context(), placements, "c1"); selected != test.selected || read != test.selected {
			t.Errorf("%v: selected %t, read %t", test.also, selected, read)
		}
		if got := fleet.DefaultTemplate(&taken.Registrations[0]); got != "base-2" {
			t.Errorf("the template is %q", got)
		}
		read := taken.AddOnOn(types.NamespacedName{Namespace: "c1", Name: "leaf"})
		if len(read.ManagedFields) != test.writers {
			t.Errorf("%v: managed fields %v", test.also, read.ManagedFields)
		}
		labels := read.Labels
		if len(labels) != 1 || labels[addonv1alpha1.InstalledByLabel] != addonv1alpha1.InstalledByPlugin {
			t.Errorf("labels %v", labels)
		}
	}
}
