package controllers

import (
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// A failed reconcile is repeated after retryFirst. The delay doubles up to RetryOnHub or
// RetryOnAgent. An agent has little to do, and so notices sooner that an API server is
// back.
const (
	retryFirst   = 5 * time.Millisecond
	RetryOnHub   = 30 * time.Second
	RetryOnAgent = 15 * time.Second
)

// AfterConflict brings a key back once the cache has had time to catch up with the write
// of another writer, which may not enqueue the key. The delay of retries limits how
// often.
var AfterConflict = reconcile.Result{Requeue: true}

// At returns the result that brings a key back at a moment, which may have passed. Zero
// is never.
func At(moment, now time.Time) reconcile.Result {
	if moment.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: max(moment.Sub(now), time.Nanosecond)}
}

// Sooner returns the earliest moment. Zero is never.
func Sooner(moments ...time.Time) (first time.Time) {
	for _, moment := range moments {
		if first.IsZero() || !moment.IsZero() && moment.Before(first) {
			first = moment
		}
	}
	return first
}

// Setup registers a controller that the sources trigger. It reconciles as many keys at a
// time as workers says.
func Setup(
	mgr ctrl.Manager, name string, reconciler reconcile.Reconciler, workers int, retryLast time.Duration, sources ...source.Source,
) error {
	c, err := controller.New(name, mgr, controller.Options{
		Reconciler:              reconciler,
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create controller %s: %w", name, err)
	}
	for _, s := range sources {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for controller %s: %w", name, err)
		}
	}
	return nil
}
