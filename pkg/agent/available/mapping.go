package available

import (
	"context"
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// relevant lets those changes of an add-on through that a decision may rest
// on. The cache holds nothing else, but for the version: most writes to an
// add-on are about something else.
func relevant() predicate.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn] {
	return predicate.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn]{
		UpdateFunc: func(e event.TypedUpdateEvent[*addonv1alpha1.ManagedClusterAddOn]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.UID != after.UID ||
				!apiequality.Semantic.DeepEqual(before.Annotations, after.Annotations) ||
				!apiequality.Semantic.DeepEqual(before.Spec, after.Spec) ||
				!apiequality.Semantic.DeepEqual(before.Status, after.Status)
		},
	}
}

// Waker has add-ons decided on whose lease has changed.
type Waker struct {
	cluster string

	mutex sync.Mutex
	queue queue
}

// NewWaker returns a waker for the add-ons of a cluster.
func NewWaker(cluster string) *Waker {
	return &Waker{cluster: cluster}
}

// Wake has the add-on of that name decided on. Leases are watched on behalf of
// a controller that runs, so before it does there is nobody to wake.
func (w *Waker) Wake(addOn string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.queue != nil {
		w.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.cluster, Name: addOn}})
	}
}

func (w *Waker) source() source.Source {
	return source.Func(func(_ context.Context, q queue) error {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.queue = q
		return nil
	})
}
