package configurer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

type addOn = *addonv1alpha1.ManagedClusterAddOn

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "settings", r, 1, controllers.RetryOnHub, r.Requests.Changed.Source(),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, &handler.TypedEnqueueRequestForObject[addOn]{}, r.configured()),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ClusterManagementAddOn{}, r.registrations()),
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, r.clusters()))
}

// registrations enqueues the add-ons whose registration changes. It has the default AddOnDeploymentConfig.
func (r *Reconciler) registrations() handler.TypedFuncs[*addonv1alpha1.ClusterManagementAddOn, reconcile.Request] {
	changed := func(name string) {
		keys := r.Requests.requestedOf(name).Union(r.Changes.sourcesOf(name))
		r.Requests.Changed.Enqueue(keys.UnsortedList()...)
	}
	return handler.TypedFuncs[*addonv1alpha1.ClusterManagementAddOn, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*addonv1alpha1.ClusterManagementAddOn], _ trigger.Queue) {
			changed(e.Object.Name)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*addonv1alpha1.ClusterManagementAddOn], _ trigger.Queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID || e.ObjectOld.Generation != e.ObjectNew.Generation {
				changed(e.ObjectNew.Name)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*addonv1alpha1.ClusterManagementAddOn], _ trigger.Queue) {
			changed(e.Object.Name)
		},
	}
}

// clusters enqueues the add-ons of a managed cluster that is available again.
func (r *Reconciler) clusters() handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request] {
	return handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]{
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], _ trigger.Queue) {
			old, current := fleet.ClusterStatus(e.ObjectOld), fleet.ClusterStatus(e.ObjectNew)
			if old == current || current != metav1.ConditionTrue {
				return
			}
			if keys, err := r.Fleet.OnCluster(ctx, e.ObjectNew.Name); err == nil { // else the cache has stopped
				r.Requests.Changed.Enqueue(keys...)
			}
		},
	}
}

// configured selects the events of add-ons with settings that are installed, refer to another AddOnDeploymentConfig now, or are deleted.
// OCM writes the reference to one that does not exist to the status, without a hash.
func (r *Reconciler) configured() predicate.TypedPredicate[addOn] {
	return predicate.TypedFuncs[addOn]{
		CreateFunc: func(e event.TypedCreateEvent[addOn]) bool {
			requests, known, _ := r.Requests.Get(client.ObjectKeyFromObject(e.Object))
			return concerns(e.Object) || len(requests) > 0 || !known
		},
		UpdateFunc: func(e event.TypedUpdateEvent[addOn]) bool {
			old, referred := fleet.ConfigOf(e.ObjectOld)
			current, refers := fleet.ConfigOf(e.ObjectNew)
			return concerns(e.ObjectNew) != concerns(e.ObjectOld) || old != current || referred != refers ||
				fleet.RefersToSettings(e.ObjectNew) != fleet.RefersToSettings(e.ObjectOld) ||
				concerns(e.ObjectNew) && e.ObjectOld.DeletionTimestamp.IsZero() != e.ObjectNew.DeletionTimestamp.IsZero()
		},
		DeleteFunc: func(e event.TypedDeleteEvent[addOn]) bool { return concerns(e.Object) },
	}
}
