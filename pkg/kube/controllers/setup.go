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
// RetryOnAgent. The limit on agents is shorter, because an agent has little to do. So it
// notices sooner that an API server is back.
const (
	retryFirst   = 5 * time.Millisecond
	RetryOnHub   = 30 * time.Second
	RetryOnAgent = 15 * time.Second
)

// AfterConflict requeues a key after a conflict with another writer, whose write may not
// enqueue the key. The delay of retries gives the cache time to catch up.
var AfterConflict = reconcile.Result{Requeue: true}

// At returns the result that requeues a key at a moment, which may be in the past. A zero
// moment does not requeue the key.
func At(moment, now time.Time) reconcile.Result {
	if moment.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: max(moment.Sub(now), time.Nanosecond)}
}

// Sooner returns the earliest moment. It ignores zero moments.
func Sooner(moments ...time.Time) time.Time {
	var first time.Time
	for _, moment := range moments {
		if first.IsZero() || !moment.IsZero() && moment.Before(first) {
			first = moment
		}
	}
	return first
}

// KeepsDelay is implemented by a reconciler that may postpone a key before it has tried anything. The delay of the key's
// retries then stays: it counts failures.
type KeepsDelay interface {
	// Postponed reports whether the last reconcile of a key has postponed it.
	Postponed(key reconcile.Request) bool
}

// keepingLimiter keeps the delays of postponed keys.
type keepingLimiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	reconciler KeepsDelay
}

// Forget implements workqueue.TypedRateLimiter. A controller calls it after each reconcile without an error.
func (l keepingLimiter) Forget(key reconcile.Request) {
	if !l.reconciler.Postponed(key) {
		l.TypedRateLimiter.Forget(key)
	}
}

func newLimiter(reconciler reconcile.Reconciler, retryLast time.Duration) workqueue.TypedRateLimiter[reconcile.Request] {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast)
	if keeps, ok := reconciler.(KeepsDelay); ok {
		return keepingLimiter{limiter, keeps}
	}
	return limiter
}

// Setup registers a controller that the sources trigger. Its number of workers is the
// number of keys that it reconciles at the same time.
func Setup(
	mgr ctrl.Manager, name string, reconciler reconcile.Reconciler, workers int, retryLast time.Duration, sources ...source.Source,
) error {
	c, err := controller.New(name, mgr, controller.Options{
		Reconciler:              reconciler,
		MaxConcurrentReconciles: workers,
		RateLimiter:             newLimiter(reconciler, retryLast),
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
