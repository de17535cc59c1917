package factreport

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/interlock/pkg/agent/leases"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
)

type (
	installed = *addonv1alpha1.ManagedClusterAddOn
	requested = *dependencyv1alpha1.ManagedClusterFacts
)

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	enqueueCluster := handler.TypedEnqueueRequestsFromMapFunc(func(context.Context, installed) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: r.key()}}
	})
	return controllers.Setup(mgr, "facts", r, 1, controllers.RetryOnAgent,
		source.Kind(r.Facts, &dependencyv1alpha1.ManagedClusterFacts{}, &handler.TypedEnqueueRequestForObject[requested]{}),
		r.Trigger.Source(r.key()),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, enqueueCluster, leaseMoved()))
}

// leaseMoved passes add-ons that are created or deleted, and add-ons whose lease is now in another place.
func leaseMoved() predicate.TypedPredicate[installed] {
	return predicate.TypedFuncs[installed]{
		UpdateFunc: func(e event.TypedUpdateEvent[installed]) bool {
			return leases.ReferenceOf(e.ObjectOld) != leases.ReferenceOf(e.ObjectNew)
		},
	}
}
