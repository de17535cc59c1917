package facts

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
)

// concurrency limits the load on the hub if the whole fleet needs new facts. It is the number
// of writes at a time. An agent follows each of them with a write of its own.
const concurrency = 8

type (
	queue               = trigger.Queue
	managedClusterAddOn = *addonv1alpha1.ManagedClusterAddOn
)

// everyCluster is a key that stands for all clusters with requested facts.
var everyCluster = types.NamespacedName{Name: "*"}

// clusterKey returns the key of a cluster.
func clusterKey(cluster string) types.NamespacedName { return types.NamespacedName{Name: cluster} }

func requestFor(cluster string) reconcile.Request {
	return reconcile.Request{NamespacedName: clusterKey(cluster)}
}

// SetupWithManager registers the controller. It begins with every cluster.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "facts", r, concurrency, controllers.RetryOnHub,
		r.Request.Source(everyCluster),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()),
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, r.clusters()))
}

// addOns handles the events of add-ons. The request to a cluster depends on the add-ons that
// are installed there. The facts of a cluster are valid only while its agent runs, and the
// add-on of the agent shows whether it does.
func (r *Reconciler) addOns() handler.TypedFuncs[managedClusterAddOn, reconcile.Request] {
	return handler.TypedFuncs[managedClusterAddOn, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[managedClusterAddOn], q queue) {
			r.enqueueIfNeeded(e.Object, q)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[managedClusterAddOn], q queue) {
			if r.wroteFacts(e.ObjectNew) && fleet.Ended("", e.ObjectOld) != fleet.Ended("", e.ObjectNew) {
				q.Add(requestFor(e.ObjectNew.Namespace))
			}
			if fleet.HostingCluster(e.ObjectOld) != fleet.HostingCluster(e.ObjectNew) {
				r.enqueueIfNeeded(e.ObjectOld, q)
				r.enqueueIfNeeded(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[managedClusterAddOn], q queue) {
			r.enqueueIfNeeded(e.Object, q)
			// If its registration was deleted first, its needs are no longer in the catalog.
			for _, cluster := range []string{e.Object.Namespace, fleet.HostingCluster(e.Object)} {
				if r.Informer.Get(factsobject.Key(cluster)) != nil {
					q.Add(requestFor(cluster))
				}
			}
		},
	}
}

// clusters handles the events of managed clusters. Hosted add-ons of other clusters can get facts of a
// cluster once it is registered.
func (r *Reconciler) clusters() handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request] {
	enqueueHost := func(ctx context.Context, cluster *clusterv1.ManagedCluster, q queue) {
		// The cache reads from memory. It fails only before it has synced, and every cluster is enqueued after that.
		if hosting, err := r.Fleet.Hosting(ctx, cluster.Name); err == nil && len(hosting) > 0 {
			q.Add(requestFor(cluster.Name))
		}
	}
	return handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*clusterv1.ManagedCluster], q queue) {
			enqueueHost(ctx, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], q queue) {
			if (fleet.ClusterStatus(e.ObjectOld) == "") != (fleet.ClusterStatus(e.ObjectNew) == "") {
				enqueueHost(ctx, e.ObjectNew, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*clusterv1.ManagedCluster], q queue) {
			enqueueHost(ctx, e.Object, q)
		},
	}
}

// enqueueIfNeeded enqueues the cluster of an add-on that needs or reports facts, and the cluster that hosts its agent.
// Before the first catalog no needs are known. The first catalog enqueues every cluster.
func (r *Reconciler) enqueueIfNeeded(addOn managedClusterAddOn, q queue) {
	if addOn.Name == names.AgentAddOn || r.wroteFacts(addOn) {
		q.Add(requestFor(addOn.Namespace))
	}
	if evaluator := r.Declarations.Current(); evaluator != nil && requestsAny(evaluator.Catalog, addOn.Name) {
		q.Add(requestFor(addOn.Namespace))
		if fleet.Hosted(addOn) && !needsOf(evaluator.Catalog, keyOf(addOn), fleet.HostingCluster(addOn)).Empty() {
			q.Add(requestFor(fleet.HostingCluster(addOn)))
		}
	}
}

// wroteFacts reports whether the add-on is the agent that wrote the facts of its cluster.
func (r *Reconciler) wroteFacts(addOn managedClusterAddOn) bool {
	object := r.Informer.Get(factsobject.Key(addOn.Namespace))
	return object != nil && object.Status.AgentAddOn == addOn.Name
}
