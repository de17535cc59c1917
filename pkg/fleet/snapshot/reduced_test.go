package snapshot

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// storing is a hub that has add-ons in memory.
type storing struct {
	client.Reader

	addOns  []*addonv1alpha1.ManagedClusterAddOn
	reduced Reduced
}

func (s *storing) StoredAddOns(namespace string) ([]*addonv1alpha1.ManagedClusterAddOn, bool) {
	return slices.DeleteFunc(slices.Clone(s.addOns), func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		return namespace != "" && addOn.Namespace != namespace
	}), true
}

func (s *storing) Reduced() *Reduced { return &s.reduced }

// TestSnapshotsShareUnchangedAddOns tests that a snapshot of a hub in memory shares add-ons with the last one, unless they have changed
// or a declaration reads other parts of them, and that it has the same content as one of a hub that is read.
func TestSnapshotsShareUnchangedAddOns(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	installed := func(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster, Name: name, UID: "u", Labels: map[string]string{"zone": "a", "secret": "s"},
		}}
	}
	hub := &storing{addOns: []*addonv1alpha1.ManagedClusterAddOn{installed("c1", "a"), installed("c1", "b"), installed("c2", "a")}}
	take := func(registrations ...addonv1alpha1.ClusterManagementAddOn) []*addonv1alpha1.ManagedClusterAddOn {
		t.Helper()
		builder := fake.NewClientBuilder().WithScheme(scheme)
		for i := range registrations {
			builder = builder.WithObjects(&registrations[i])
		}
		read := builder
		for _, addOn := range hub.addOns {
			read = read.WithObjects(addOn.DeepCopy())
		}
		hub.Reader = read.Build()
		got, err := Take(t.Context(), hub, "")
		if err != nil {
			t.Fatal(err)
		}
		want, err := Take(t.Context(), hub.Reader, "")
		if err != nil {
			t.Fatal(err)
		}
		if difference := cmp.Diff(want.AddOns, got.AddOns); difference != "" {
			t.Errorf("differs from a hub that is read (-read, +stored):\n%s", difference)
		}
		return got.AddOns
	}
	first := take(fixture.Registrations("a: b, b")...)
	if len(first[0].Labels) > 0 {
		t.Errorf("labels that nothing reads: %v", first[0].Labels)
	}
	hub.addOns[1] = installed("c1", "b")
	second := take(fixture.Registrations("a: b, b")...)
	for i, isSame := range []bool{true, false, true} {
		if (first[i] == second[i]) != isSame {
			t.Errorf("add-on %d is shared: %t, want %t", i, !isSame, isSame)
		}
	}
	reads := fixture.Specified(t, "a", `dependencies: [{name: b, when: {expression: "addOn.labels['zone'] == 'a'"}}]`)
	third := take(reads, fixture.Registration("b"))
	for i, want := range []map[string]string{{"zone": "a"}, nil, {"zone": "a"}} {
		if difference := cmp.Diff(want, third[i].Labels); difference != "" {
			t.Errorf("labels of add-on %d (-want, +got):\n%s", i, difference)
		}
	}
	if third[1] != second[1] {
		t.Error("an add-on whose parts are read as before is not shared")
	}
	hub.addOns = hub.addOns[:1]
	fourth := take(reads, fixture.Registration("b"))
	if inMemory := len(hub.reduced.byNamespace[""].addOns); len(fourth) != 1 || fourth[0] != third[0] || inMemory != 1 {
		t.Errorf("%d add-ons, and %d are kept in memory", len(fourth), inMemory)
	}
}
