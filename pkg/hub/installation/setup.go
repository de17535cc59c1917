package installation

import (
	"context"
	"maps"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "installations", r, 1, controllers.RetryOnHub,
		r.Changed.Source(Key), source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, clusters()))
}

func later(q trigger.Queue) { q.AddAfter(reconcile.Request{NamespacedName: Key}, gather) }

// clusters: a managed cluster becomes available, policies select it by its labels, or it is deleted.
func clusters() handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request] {
	return handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]{
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], q trigger.Queue) {
			if fleet.ClusterStatus(e.ObjectOld) != fleet.ClusterStatus(e.ObjectNew) || !maps.Equal(e.ObjectOld.Labels, e.ObjectNew.Labels) ||
				e.ObjectOld.DeletionTimestamp.IsZero() != e.ObjectNew.DeletionTimestamp.IsZero() {
				later(q)
			}
		},
		DeleteFunc: func(_ context.Context, _ event.TypedDeleteEvent[*clusterv1.ManagedCluster], q trigger.Queue) {
			later(q)
		},
	}
}
