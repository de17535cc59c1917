package degraded

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// A failed write is tried again after retryFirst, then ever later, but never
// later than retryLast: an API server that was away is noticed within that.
const (
	retryFirst = 5 * time.Millisecond
	retryLast  = 30 * time.Second
)

// Waker lets another controller have add-ons evaluated.
type Waker struct {
	queue chan queue
}

// NewWaker returns a waker that waits until the controller it is given to runs.
func NewWaker() *Waker {
	return &Waker{queue: make(chan queue, 1)}
}

// Wake has the add-ons of the keys evaluated. It fails only when the context ends first.
func (w *Waker) Wake(ctx context.Context, keys []types.NamespacedName) error {
	select {
	case q := <-w.queue:
		w.queue <- q
		for _, name := range keys {
			enqueue(q, name)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wake %d add-ons: %w", len(keys), ctx.Err())
	}
}

func (w *Waker) source() source.Source {
	return source.Func(func(_ context.Context, q queue) error {
		w.queue <- q
		return nil
	})
}

// SetupWithManager registers the controller: concurrency is how many add-ons
// are evaluated and written at the same time.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, waker *Waker, concurrency int) error {
	c, err := controller.New("degraded", mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create degraded controller: %w", err)
	}
	// Reading and evaluating a whole fleet leaves garbage that would be kept as
	// long as nothing else happens, and counted against the limit of the pod.
	initial := newBacklog(debug.FreeOSMemory)
	mapping := mapping{
		initial:      initial.add,
		declarations: r.Declarations, fleet: r.Fleet, hold: r.Offline == evaluation.OfflineHold,
		forget: r.Contention.Forget, outages: r.Outages, rollouts: &r.rollouts,
	}
	sources := []source.Source{
		waker.source(), initial.source(),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, mapping.addOns()),
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, mapping.clusters()),
	}
	for _, s := range sources {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for degraded controller: %w", err)
		}
	}
	return nil
}
