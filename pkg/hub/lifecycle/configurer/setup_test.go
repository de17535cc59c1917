package configurer

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/event"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// An add-on that Interlock has installed may have no dependent any more when OCM writes the reference to its status.
func TestANewReferenceTriggers(t *testing.T) {
	b := newBench(t)
	read := func() *addonv1alpha1.ManagedClusterAddOn {
		installed := &addonv1alpha1.ManagedClusterAddOn{}
		if err := b.hub.Get(t.Context(), base, installed); err != nil {
			t.Fatal(err)
		}
		return installed
	}
	before := read()
	b.refer(t)
	triggering := b.configured()
	if !triggering.Update(event.TypedUpdateEvent[addOn]{ObjectOld: before, ObjectNew: read()}) {
		t.Error("it is not triggered")
	}
	if triggering.Update(event.TypedUpdateEvent[addOn]{ObjectOld: read(), ObjectNew: read()}) {
		t.Error("it is triggered without a change")
	}
}

// A registration has the default AddOnDeploymentConfig, and whether there can be one.
func TestAChangedRegistrationTriggers(t *testing.T) {
	b := newBench(t)
	if keys := b.Requests.requestedOf("base"); !keys.Equal(sets.New(base)) {
		t.Errorf("requested: %v", keys)
	}
	if keys := b.Changes.sourcesOf("base"); keys.Len() > 0 {
		t.Errorf("copied before anything was written: %v", keys)
	}
	b.reconcile(t)
	if keys := b.Changes.sourcesOf("base").Union(b.Changes.sourcesOf("leaf")); !keys.Equal(sets.New(base)) {
		t.Errorf("copied: %v", keys)
	}
}

// Whoever installs an add-on without the reference, its dependents learn that they get no settings.
func TestANewAddOnWithRequestsTriggers(t *testing.T) {
	b := newBench(t)
	created := func(name string) event.TypedCreateEvent[addOn] {
		installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "c", Name: name}}
		return event.TypedCreateEvent[addOn]{Object: installed}
	}
	if triggering := b.configured(); !triggering.Create(created("base")) || triggering.Create(created("other")) {
		t.Error("not exactly the add-on with requests triggers")
	}
}
