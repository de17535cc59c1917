package available

import (
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	// A failed write or question is tried again after retryFirst, then ever
	// later, but never later than retryLast: an API server that was away is
	// noticed within that.
	retryFirst = 5 * time.Millisecond
	retryLast  = 15 * time.Second
	// A cluster has some dozen add-ons; this is for the moment when all of
	// them change, and for an API server that answers slowly.
	concurrency = 8
	// syncPatience: a hub that is away is waited for. There is no value for
	// "forever"; giving up would end the process and change nothing.
	syncPatience = 10 * 365 * 24 * time.Hour
)

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, waker *Waker) error {
	c, err := controller.New("available", mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: concurrency,
		CacheSyncTimeout:        syncPatience,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create available controller: %w", err)
	}
	for _, s := range []source.Source{
		waker.source(),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{},
			&handler.TypedEnqueueRequestForObject[*addonv1alpha1.ManagedClusterAddOn]{}, relevant()),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for available controller: %w", err)
		}
	}
	return nil
}
