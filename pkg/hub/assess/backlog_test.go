package assess

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestBacklogFillsTheQueueLittleByLittle(t *testing.T) {
	const total = 3 * queueFill
	fed := make(chan struct{}, 1)
	b := NewBacklog(func() { fed <- struct{}{} })
	for i := range total {
		b.Add(types.NamespacedName{Namespace: fmt.Sprint(i), Name: "leaf"})
	}
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	if err := b.Source().Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	seen, longest := map[reconcile.Request]bool{}, 0
	next := func() {
		longest = max(longest, q.Len())
		request, _ := q.Get()
		seen[request] = true
		q.Done(request)
	}
	for len(seen) < total {
		next()
	}
	select {
	case <-fed:
	case <-time.After(10 * restAfter):
		t.Errorf("it was not emitted that the backlog is over")
	}
	if longest > queueFill {
		t.Errorf("%d of %d were in the queue at a time, want at most %d", longest, total, queueFill)
	}
	b.Add(leaf) // after the backlog was empty
	next()
	if !seen[reconcile.Request{NamespacedName: leaf}] {
		t.Errorf("what came last was not evaluated")
	}
}

func TestTheFirstListGoesToTheBacklog(t *testing.T) {
	b := NewBacklog(func() {})
	w := Watch{Initial: b.Add}
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	base := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: leaf.Namespace, Name: "base"}}
	w.AddOns().Create(t.Context(), event.TypedCreateEvent[managedClusterAddOn]{Object: base, IsInInitialList: true}, q)
	if q.Len() != 0 {
		t.Errorf("%d add-ons are in the queue already", q.Len())
	}
	keys, hasMore := b.take(2)
	if diff := cmp.Diff([]types.NamespacedName{{Namespace: leaf.Namespace, Name: "base"}}, keys); diff != "" || hasMore {
		t.Errorf("more: %t, %s", hasMore, diff)
	}
}
