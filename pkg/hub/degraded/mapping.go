package degraded

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
)

type (
	queue         = workqueue.TypedRateLimitingInterface[reconcile.Request]
	installed     = *addonv1alpha1.ManagedClusterAddOn
	addOnHandler  = handler.TypedFuncs[installed, reconcile.Request]
	clusterHandle = handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]
)

// mapping says which event wakes which add-ons.
type mapping struct {
	declarations *declarations.Store
	fleet        fleet.Reader
	// forget drops what is remembered of an add-on that is no more, even when
	// its successor of the same name is there before anybody looks.
	forget func(types.NamespacedName)
}

// addOns: an add-on is evaluated when it comes, goes, or somebody touches its
// Degraded; its dependents on the same cluster when it comes, goes, or its
// Available changes. Nothing else of it matters here.
func (m mapping) addOns() addOnHandler {
	return addOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[installed], q queue) {
			enqueue(q, key(e.Object))
			m.dependents(e.Object, q)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[installed], q queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID {
				m.forget(key(e.ObjectOld))
			}
			if replaced(e.ObjectOld, e.ObjectNew) || !sameCondition(fleet.Degraded(e.ObjectOld), fleet.Degraded(e.ObjectNew)) {
				enqueue(q, key(e.ObjectNew))
			}
			if replaced(e.ObjectOld, e.ObjectNew) || !sameCondition(fleet.Available(e.ObjectOld), fleet.Available(e.ObjectNew)) {
				m.dependents(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[installed], q queue) {
			m.forget(key(e.Object))
			enqueue(q, key(e.Object))
			m.dependents(e.Object, q)
		},
	}
}

// dependents wakes whoever depends on the add-on, on the same cluster. Before
// the first catalog nobody is known; every add-on is evaluated then anyway.
func (m mapping) dependents(dependency installed, q queue) {
	catalog := m.declarations.Current()
	if catalog == nil {
		return
	}
	for _, dependent := range catalog.Dependents(dependency.Name) {
		enqueue(q, types.NamespacedName{Namespace: dependency.Namespace, Name: dependent})
	}
}

// clusters: what is held ends when a managed cluster is no longer lost, and
// when there is none any more of which to wait for news.
func (m mapping) clusters() clusterHandle {
	return clusterHandle{
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], q queue) {
			if lost(e.ObjectOld) && !lost(e.ObjectNew) || known(e.ObjectOld) && !known(e.ObjectNew) {
				m.onCluster(ctx, e.ObjectNew.Name, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*clusterv1.ManagedCluster], q queue) {
			if known(e.Object) {
				m.onCluster(ctx, e.Object.Name, q)
			}
		},
	}
}

func (m mapping) onCluster(ctx context.Context, cluster string, q queue) {
	keys, err := m.fleet.OnCluster(ctx, cluster)
	if err != nil {
		// The cache answers from memory; it fails only before it has synced,
		// and then every add-on is still to be evaluated.
		log.FromContext(ctx).Error(err, "Could not wake the add-ons of a cluster that is back", "cluster", cluster)
	}
	for _, addOn := range keys {
		enqueue(q, addOn)
	}
}

func lost(cluster *clusterv1.ManagedCluster) bool {
	return fleet.ClusterStatus(cluster) == metav1.ConditionUnknown
}

// known reports whether it has ever been said how the cluster is.
func known(cluster *clusterv1.ManagedCluster) bool {
	return fleet.ClusterStatus(cluster) != ""
}

func key(addOn installed) types.NamespacedName {
	return types.NamespacedName{Namespace: addOn.Namespace, Name: addOn.Name}
}

func enqueue(q queue, name types.NamespacedName) {
	q.Add(reconcile.Request{NamespacedName: name})
}

// replaced reports whether an update hides a deletion and a new creation, or
// tells of the beginning of a deletion.
func replaced(before, after installed) bool {
	return before.UID != after.UID || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
}

func sameCondition(before, after *metav1.Condition) bool {
	return apiequality.Semantic.DeepEqual(before, after)
}
