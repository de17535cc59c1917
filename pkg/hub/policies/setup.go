package policies

import (
	"context"
	"maps"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Settled is when the managed clusters are counted again after the fleet has changed. A rollout changes
// it all the time: one count is enough for all that changes meanwhile.
const Settled = 5 * time.Second

type queue = trigger.Queue

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "policies", r, 1, controllers.RetryOnHub,
		r.Changed.Source(Key),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()),
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, r.clusters()))
}

func enqueueSettled(q queue) { q.AddAfter(reconcile.Request{NamespacedName: Key}, Settled) }

// addOns: it counts where an add-on is installed of which a dependency is overridden, and which
// AddOnTemplate runs there.
func (r *Reconciler) addOns() handler.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn, reconcile.Request] {
	overridden := func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		evaluator := r.Declarations.Current()
		return evaluator != nil && evaluator.HasOverrides(addOn.Name)
	}
	return handler.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*addonv1alpha1.ManagedClusterAddOn], q queue) {
			if overridden(e.Object) {
				enqueueSettled(q)
			}
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*addonv1alpha1.ManagedClusterAddOn], q queue) {
			if fleet.TemplatesOf(e.ObjectOld) != fleet.TemplatesOf(e.ObjectNew) && overridden(e.ObjectNew) {
				enqueueSettled(q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*addonv1alpha1.ManagedClusterAddOn], q queue) {
			if overridden(e.Object) {
				enqueueSettled(q)
			}
		},
	}
}

// clusters: it counts which labels a managed cluster has.
func (r *Reconciler) clusters() handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request] {
	hasOverrides := func() bool {
		evaluator := r.Declarations.Current()
		return r.hasClusterPolicies.Load() || evaluator != nil && len(evaluator.Overridden()) > 0
	}
	return handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]{
		CreateFunc: func(_ context.Context, _ event.TypedCreateEvent[*clusterv1.ManagedCluster], q queue) {
			if hasOverrides() {
				enqueueSettled(q)
			}
		},
		DeleteFunc: func(_ context.Context, _ event.TypedDeleteEvent[*clusterv1.ManagedCluster], q queue) {
			if hasOverrides() {
				enqueueSettled(q)
			}
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], q queue) {
			if !maps.Equal(e.ObjectOld.Labels, e.ObjectNew.Labels) && hasOverrides() {
				enqueueSettled(q)
			}
		},
	}
}
