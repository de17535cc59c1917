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
	// A failed request is retried after retryFirst, then with a growing delay up to
	// retryLast. So the agent notices within retryLast that an API server is back.
	retryFirst = 5 * time.Millisecond
	retryLast  = 15 * time.Second
	// A cluster has some dozen add-ons. All of them may change at once, or the API
	// server may respond slowly.
	concurrency = 8
)

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	c, err := controller.New("available", mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create available controller: %w", err)
	}
	for _, s := range []source.Source{
		r.Trigger.Source(),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{},
			&handler.TypedEnqueueRequestForObject[*addonv1alpha1.ManagedClusterAddOn]{}, inputChanged()),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for available controller: %w", err)
		}
	}
	return nil
}
