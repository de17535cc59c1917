package removal

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// workers is the number of add-ons that are reconciled at a time.
const workers = 4

type (
	addOn            = *addonv1alpha1.ManagedClusterAddOn
	cluster          = *clusterv1.ManagedCluster
	metadata         = *metav1.PartialObjectMetadata
	addOnHandler     = handler.TypedFuncs[addOn, reconcile.Request]
	clusterHandler   = handler.TypedFuncs[cluster, reconcile.Request]
	namespaceHandler = handler.TypedFuncs[metadata, reconcile.Request]
)

// SetupWithManager registers the controller. It begins with every add-on that is being deleted.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "teardown", r, workers, controllers.RetryOnHub,
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()),
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, r.clusters()),
		source.Kind(mgr.GetCache(), fleet.Namespace(), r.namespaces()))
}

// addOns handles the events of add-ons. The beginning and the end of a deletion enqueue all add-ons on the cluster that are being deleted.
func (r *Reconciler) addOns() addOnHandler {
	return addOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[addOn], q trigger.Queue) {
			if !e.Object.DeletionTimestamp.IsZero() {
				q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)})
			}
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[addOn], q trigger.Queue) {
			if e.ObjectOld.DeletionTimestamp.IsZero() && !e.ObjectNew.DeletionTimestamp.IsZero() {
				r.enqueueOnCluster(ctx, e.ObjectNew.Namespace, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[addOn], q trigger.Queue) {
			r.enqueueOnCluster(ctx, e.Object.Namespace, q)
		},
	}
}

// clusters handles the events of managed clusters. The loss, detachment or deletion of a cluster enqueues its add-ons.
func (r *Reconciler) clusters() clusterHandler {
	return clusterHandler{
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[cluster], q trigger.Queue) {
			if abandoned(e.ObjectNew) && !abandoned(e.ObjectOld) {
				r.enqueueOnCluster(ctx, e.ObjectNew.Name, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[cluster], q trigger.Queue) {
			r.enqueueOnCluster(ctx, e.Object.Name, q)
		},
	}
}

// namespaces handles the events of namespaces. The deletion of a managed cluster's namespace enqueues its add-ons. They may all be in
// deletion already, so that it changes none of them.
func (r *Reconciler) namespaces() namespaceHandler {
	return namespaceHandler{
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[metadata], q trigger.Queue) {
			if e.ObjectOld.DeletionTimestamp.IsZero() && !e.ObjectNew.DeletionTimestamp.IsZero() {
				r.enqueueOnCluster(ctx, e.ObjectNew.Name, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[metadata], q trigger.Queue) {
			r.enqueueOnCluster(ctx, e.Object.Name, q)
		},
	}
}

// enqueueOnCluster enqueues the add-ons of a managed cluster that are being deleted.
func (r *Reconciler) enqueueOnCluster(ctx context.Context, name string, q trigger.Queue) {
	addOns, err := r.Fleet.AddOnsOn(ctx, name)
	if err != nil {
		return // reads of the cache fail only while the process stops
	}
	for i := range addOns {
		if !addOns[i].DeletionTimestamp.IsZero() {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: name, Name: addOns[i].Name}})
		}
	}
}
