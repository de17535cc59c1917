package status

import (
	"context"
	"fmt"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
)

// SetupWithManager registers the controller. It begins with every add-on.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	// The evaluation of a whole fleet leaves garbage, which counts against the memory limit of
	// the pod. With 100,000 add-ons in a cache, 151 MiB were resident two minutes later,
	// and 130 MiB with this call.
	initial := assess.NewBacklog(debug.FreeOSMemory)
	watch := assess.Watch{
		Declarations: r.Declarations,
		Fleet:        r.Assessor.Fleet,
		Hold:         r.Assessor.Loader.Offline == evaluation.OfflineHold,
		Memory:       r.Memory,
		Acts:         r.Assessor.Acts,
		Forget:       r.forget,
		Lost:         r.Metrics.SetLost,
		Initial: func(addOn types.NamespacedName) {
			r.FirstPass.Add(addOn)
			initial.Add(addOn)
		},
	}
	r.Store.Subscribe(r.review)
	return controllers.Setup(mgr, "status", r, r.Concurrency, controllers.RetryOnHub,
		r.Evaluate.Source(), initial.Source(),
		listedSource{source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, watch.AddOns()), r.FirstPass.Listed},
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, watch.Clusters()))
}

// listedSource is a source that calls onListed after it has handled all objects of the first list.
type listedSource struct {
	source.SyncingSource
	onListed func()
}

// WaitForSync implements source.SyncingSource.
func (l listedSource) WaitForSync(ctx context.Context) error {
	err := l.SyncingSource.WaitForSync(ctx)
	if err == nil && ctx.Err() == nil { // else, the process stops
		l.onListed()
	}
	return err
}

// String names the source in the log.
func (l listedSource) String() string { return fmt.Sprint(l.SyncingSource) }
