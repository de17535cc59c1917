package degraded

import (
	"context"
	"fmt"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// SetupWithManager registers the controller. It begins with every add-on.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	// Evaluating a whole fleet leaves garbage, which counts against the memory limit of
	// the pod. With 100,000 add-ons in a cache, 151 MiB were resident two minutes later,
	// and 130 MiB with this call.
	initial := newBacklog(debug.FreeOSMemory)
	mapping := mapping{
		declarations: r.Declarations, fleet: r.Fleet, hold: r.Loader.Offline == evaluation.OfflineHold,
		memory: r.Memory, forget: r.forget, lost: r.Metrics.SetLost, initial: func(addOn types.NamespacedName) {
			r.FirstPass.Add(addOn)
			initial.add(addOn)
		},
	}
	return controllers.Setup(mgr, "degraded", r, r.Concurrency, controllers.RetryOnHub,
		r.Evaluate.Source(), initial.source(),
		listed{source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, mapping.addOns()), r.FirstPass.Listed},
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, mapping.clusters()))
}

// listed is a source that calls a function once it has handled all objects that exist.
type listed struct {
	source.SyncingSource
	then func()
}

// WaitForSync implements source.SyncingSource.
func (l listed) WaitForSync(ctx context.Context) error {
	err := l.SyncingSource.WaitForSync(ctx)
	if err == nil && ctx.Err() == nil { // else, the process stops
		l.then()
	}
	return err
}

// String names the source in the log.
func (l listed) String() string { return fmt.Sprint(l.SyncingSource) }
