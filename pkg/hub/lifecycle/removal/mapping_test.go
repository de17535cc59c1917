package removal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/triggertest"
)

func TestEventsThatEnqueue(t *testing.T) {
	object := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf"}}
	detaching := joined(metav1.ConditionTrue)
	detaching.DeletionTimestamp = deleted("x").DeletionTimestamp
	b := newBench(t, deleted("base", theirs), deleted("other", theirs), object)
	addOns, clusters, namespaces := b.addOns(), b.clusters(), b.namespaces()
	active, terminating := fleet.Namespace(), fleet.Namespace()
	active.Name, terminating.Name, terminating.DeletionTimestamp = "cluster1", "cluster1", detaching.DeletionTimestamp
	deleting := []string{"cluster1/base", "cluster1/other"}
	for name, test := range map[string]struct {
		happens func(q trigger.Queue)
		want    []string
	}{
		"it is being deleted at the start": {func(q trigger.Queue) {
			addOns.Create(t.Context(), event.TypedCreateEvent[addOn]{Object: deleted("base")}, q)
		}, []string{"cluster1/base"}},
		"it is there at the start": {func(q trigger.Queue) {
			addOns.Create(t.Context(), event.TypedCreateEvent[addOn]{Object: object}, q)
		}, []string{}},
		"its deletion begins": {func(q trigger.Queue) {
			addOns.Update(t.Context(), event.TypedUpdateEvent[addOn]{ObjectOld: object, ObjectNew: deleted("leaf")}, q)
		}, deleting},
		"something else changes": {func(q trigger.Queue) {
			addOns.Update(t.Context(), event.TypedUpdateEvent[addOn]{ObjectOld: deleted("leaf"), ObjectNew: deleted("leaf")}, q)
		}, []string{}},
		"another one is gone": {func(q trigger.Queue) {
			addOns.Delete(t.Context(), event.TypedDeleteEvent[addOn]{Object: deleted("leaf")}, q)
		}, deleting},
		"the cluster is lost": {func(q trigger.Queue) {
			clusters.Update(t.Context(), event.TypedUpdateEvent[cluster]{ObjectOld: joined("True"), ObjectNew: joined("Unknown")}, q)
		}, deleting},
		"the cluster is being detached": {func(q trigger.Queue) {
			clusters.Update(t.Context(), event.TypedUpdateEvent[cluster]{ObjectOld: joined("True"), ObjectNew: detaching}, q)
		}, deleting},
		"the cluster comes back": {func(q trigger.Queue) {
			clusters.Update(t.Context(), event.TypedUpdateEvent[cluster]{ObjectOld: joined("Unknown"), ObjectNew: joined("True")}, q)
		}, []string{}},
		"the cluster is gone": {func(q trigger.Queue) {
			clusters.Delete(t.Context(), event.TypedDeleteEvent[cluster]{Object: joined("True")}, q)
		}, deleting},
		"the namespace is being deleted": {func(q trigger.Queue) {
			namespaces.Update(t.Context(), event.TypedUpdateEvent[metadata]{ObjectOld: active, ObjectNew: terminating}, q)
		}, deleting},
		"the namespace is still being deleted": {func(q trigger.Queue) {
			namespaces.Update(t.Context(), event.TypedUpdateEvent[metadata]{ObjectOld: terminating, ObjectNew: terminating}, q)
		}, []string{}},
		"the namespace is gone": {func(q trigger.Queue) {
			namespaces.Delete(t.Context(), event.TypedDeleteEvent[metadata]{Object: terminating}, q)
		}, deleting},
	} {
		t.Run(name, func(t *testing.T) {
			queue := triggertest.NewQueue(t)
			test.happens(queue)
			if diff := cmp.Diff(test.want, triggertest.Drain(queue)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
