package acting_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/hub/acting"
	"open-cluster-management.io/interlock/test/actingbench"
	"open-cluster-management.io/interlock/test/triggertest"
)

func isLeaf(addOn acting.Installed) bool { return addOn.Name == "leaf" }

// An add-on is decided on when it changes so that it concerns the controller, and when one that did is deleted.
func TestAnAddOnIsDecidedOnWhenItChanges(t *testing.T) {
	cached := &informertest.FakeInformers{Scheme: actingbench.New(t, nil, nil, false).Scheme()}
	changes, queue := acting.Changes(cached, isLeaf), triggertest.NewQueue(t)
	if err := errors.Join(changes.Start(t.Context(), queue), changes.WaitForSync(t.Context())); err != nil {
		t.Fatal(err)
	}
	informer, err := cached.FakeInformerFor(t.Context(), &addonv1alpha1.ManagedClusterAddOn{})
	if err != nil {
		t.Fatal(err)
	}
	leaf, other := actingbench.AddOn("leaf"), actingbench.AddOn("other")
	for what, happens := range map[string]func(){
		"created":                   func() { informer.Add(other); informer.Add(leaf) },
		"changed":                   func() { informer.Update(other, other); informer.Update(leaf, leaf) },
		"changed so that it counts": func() { informer.Update(leaf, other); informer.Update(other, leaf) },
		"deleted":                   func() { informer.Delete(other); informer.Delete(leaf) },
	} {
		happens()
		if got := triggertest.Drain(queue); !slices.Equal(got, []string{"cluster1/leaf"}) {
			t.Errorf("%s: enqueued %q", what, got)
		}
	}
}

func TestOnlyWhatConcernsAControllerIsEnqueued(t *testing.T) {
	hub := actingbench.New(t, nil, nil, false, actingbench.AddOn("leaf"), actingbench.AddOn("other"))
	enqueued := triggertest.Enqueued(t, hub.AddOns.Evaluate)
	for _, name := range []string{"leaf", "other", "absent"} {
		hub.AddOns.EnqueueIf(isLeaf, client.ObjectKey{Namespace: "cluster1", Name: name})
	}
	if got := enqueued(); len(got) != 1 || got[0] != "cluster1/leaf" {
		t.Errorf("enqueued %q", got)
	}
}

func TestRead(t *testing.T) {
	deleted := actingbench.AddOn("deleted")
	deleted.DeletionTimestamp, deleted.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"a/b"}
	hub := actingbench.New(t, nil, nil, false, actingbench.AddOn("leaf"), deleted)
	for name, want := range map[string]bool{"leaf": true, "deleted": false, "absent": false} {
		found, declared, err := hub.AddOns.Read(t.Context(), client.ObjectKey{Namespace: "cluster1", Name: name})
		if err != nil || (found != nil) != want || declared == nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

func TestUnwritten(t *testing.T) {
	resource, broken := schema.GroupResource{Resource: "managedclusteraddons"}, errors.New("the hub is busy")
	for name, test := range map[string]struct {
		err   error
		again bool
		fails string
	}{
		"conflict":  {apierrors.NewConflict(resource, "leaf", broken), true, ""},
		"not found": {apierrors.NewNotFound(resource, "leaf"), false, ""},
		"refused":   {broken, false, "write it: the hub is busy"},
	} {
		result, err := acting.Unwritten(test.err, "write it")
		if (err == nil) != (test.fails == "") || err != nil && err.Error() != test.fails || result.IsZero() == test.again {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
}
