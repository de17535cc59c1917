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
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Settled is the delay between a change of the fleet and the next count of the managed clusters. So one
// count covers many changes of a rollout.
const Settled = 5 * time.Second

type queue = trigger.Queue

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "policies", r, 1, controllers.RetryOnHub,
		r.Changed.Source(Key),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()),
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, r.clusters()))
}

// enqueueSettled enqueues the key after the delay Settled.
func enqueueSettled(q queue) { q.AddAfter(reconcile.Request{NamespacedName: Key}, Settled) }

// addOns handles the events of add-ons. The status depends on the clusters where an add-on with an
// overridden dependency is installed, and on the AddOnTemplate that runs there.
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

// clusters handles the events of managed clusters. Policies select clusters by their labels.
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
