package degraded

import (
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// A failed write is repeated after retryFirst, doubled each time up to retryLast.
const (
	retryFirst = 5 * time.Millisecond
	retryLast  = 30 * time.Second
)

// SetupWithManager registers the controller. It begins with every add-on.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	c, err := controller.New("degraded", mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: r.Concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create degraded controller: %w", err)
	}
	// Evaluating a whole fleet leaves garbage, which counts against the memory limit of
	// the pod. With 100,000 add-ons in a cache, 151 MiB were resident two minutes later,
	// and 130 MiB with this call.
	initial := newBacklog(debug.FreeOSMemory)
	mapping := mapping{
		declarations: r.Declarations, fleet: r.Fleet, hold: r.Loader.Offline == evaluation.OfflineHold,
		memory: r.Memory, forget: r.Backoff.Forget, initial: initial.add,
	}
	sources := []source.Source{
		r.Evaluate.Source(), initial.source(),
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
