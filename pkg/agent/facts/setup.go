package facts

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/interlock/pkg/agent/leases"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	// A failed write is tried again after retryFirst, then ever later, but
	// never later than retryLast.
	retryFirst = 5 * time.Millisecond
	retryLast  = 15 * time.Second
	// syncPatience: a hub that is away is waited for; there is no value for
	// "forever".
	syncPatience = 10 * 365 * 24 * time.Hour
)

type (
	queue     = workqueue.TypedRateLimitingInterface[reconcile.Request]
	installed = *addonv1alpha1.ManagedClusterAddOn
)

// Waker has the questions answered anew.
type Waker struct {
	request reconcile.Request

	mutex  sync.Mutex
	queue  queue
	missed bool
}

// NewWaker returns a waker for a cluster.
func NewWaker(cluster string) *Waker {
	return &Waker{request: reconcile.Request{NamespacedName: types.NamespacedName{Namespace: cluster, Name: cluster}}}
}

// Wake has all questions answered anew, as soon as the controller runs.
func (w *Waker) Wake() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.queue == nil {
		w.missed = true
		return
	}
	w.queue.Add(w.request)
}

func (w *Waker) source() source.Source {
	return source.Func(func(_ context.Context, q queue) error {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.queue = q
		if w.missed {
			q.Add(w.request)
		}
		return nil
	})
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, waker *Waker) error {
	c, err := controller.New("facts", mgr, controller.Options{
		Reconciler:       r,
		CacheSyncTimeout: syncPatience,
		RateLimiter:      workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create facts controller: %w", err)
	}
	all := handler.TypedEnqueueRequestsFromMapFunc(func(context.Context, installed) []reconcile.Request {
		return []reconcile.Request{waker.request}
	})
	for _, s := range []source.Source{
		waker.source(),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, all, leaseMoved()),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for facts controller: %w", err)
		}
	}
	return nil
}

// leaseMoved passes add-ons that come and go, and those whose lease is
// somewhere else now.
func leaseMoved() predicate.TypedPredicate[installed] {
	return predicate.TypedFuncs[installed]{
		UpdateFunc: func(e event.TypedUpdateEvent[installed]) bool {
			return leases.Of(e.ObjectOld) != leases.Of(e.ObjectNew)
		},
	}
}
