package degraded

import (
	"context"
	"maps"
	"slices"

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
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
	"open-cluster-management.io/interlock/pkg/hub/outage"
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
	// hold is set where verdicts on lost clusters are held.
	hold    bool
	outages *outage.Tracker
	// forget drops what is remembered of an add-on that is no more, even when
	// its successor of the same name is there before anybody looks.
	forget func(types.NamespacedName)
	// rollouts observes the AddOnTemplates of all add-ons.
	rollouts *rollouts
	// initial has an add-on evaluated that is there when addon-manager starts.
	initial func(types.NamespacedName)
}

// addOns: an add-on is evaluated when it comes, goes, or somebody touches its
// Degraded, and when what the conditions of its edges look at of it changes;
// its dependents on the same cluster when it comes, goes, its Available changes,
// a Required dependency of its own begins or ceases to fail, or its version
// changes where they ask for it. Nothing else matters here.
func (m mapping) addOns() addOnHandler {
	return addOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[installed], q queue) {
			if e.IsInInitialList {
				m.initial(key(e.Object)) // and so will be its peers and dependents
				return
			}
			enqueue(q, key(e.Object))
			m.peers(e.Object, q)
			m.dependents(e.Object, 0, q)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[installed], q queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID {
				m.forget(key(e.ObjectOld))
				m.rollouts.forget(key(e.ObjectOld))
			} else {
				m.rollouts.observe(key(e.ObjectNew), fleet.TemplatesOf(e.ObjectOld), fleet.TemplatesOf(e.ObjectNew))
			}
			if !evaluation.LeftByLoss(fleet.Available(e.ObjectNew)) {
				m.outages.Reported(key(e.ObjectNew))
			}
			if replaced(e.ObjectOld, e.ObjectNew) || !sameCondition(fleet.Degraded(e.ObjectOld), fleet.Degraded(e.ObjectNew)) {
				enqueue(q, key(e.ObjectNew))
			}
			if !sameSubject(e.ObjectOld, e.ObjectNew) {
				m.peers(e.ObjectNew, q)
			}
			switch {
			case replaced(e.ObjectOld, e.ObjectNew) || !sameState(e.ObjectOld, e.ObjectNew):
				m.dependents(e.ObjectNew, 0, q)
			case !fleet.SameVersionSources(e.ObjectOld, e.ObjectNew):
				m.dependents(e.ObjectNew, input.Versions, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[installed], q queue) {
			m.forget(key(e.Object))
			m.rollouts.forget(key(e.Object))
			m.outages.Reported(key(e.Object))
			enqueue(q, key(e.Object))
			m.peers(e.Object, q)
			m.dependents(e.Object, 0, q)
		},
	}
}

// dependents wakes whoever depends on the add-on, on the same cluster, and
// uses what is given; zero for everybody. Before the first catalog nobody is
// known; every add-on is evaluated then anyway.
func (m mapping) dependents(addOn installed, using input.Set, q queue) {
	catalog := m.declarations.Current()
	if catalog == nil {
		return
	}
	for _, dependent := range catalog.Dependents(addOn.Name) {
		if using == 0 || catalog.Inputs(dependent).Any(using) {
			enqueue(q, types.NamespacedName{Namespace: addOn.Namespace, Name: dependent})
		}
	}
}

// peers wakes the add-ons whose verdicts depend on the add-on's own labels,
// annotations or configuration.
func (m mapping) peers(addOn installed, q queue) {
	catalog := m.declarations.Current()
	if catalog == nil {
		return
	}
	for _, peer := range catalog.Readers(addOn.Name) {
		enqueue(q, types.NamespacedName{Namespace: addOn.Namespace, Name: peer})
	}
}

// clusters: what is held ends when a managed cluster is no longer lost, and
// when there is none any more of which to wait for news. A change of labels,
// claims or version concerns the add-ons there that look at it.
func (m mapping) clusters() clusterHandle {
	return clusterHandle{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*clusterv1.ManagedCluster], q queue) {
			m.outages.Observe(e.Object.Name, fleet.ClusterStatus(e.Object))
			m.onCluster(ctx, e.Object.Name, differences(&clusterv1.ManagedCluster{}, e.Object), q)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], q queue) {
			m.outages.Observe(e.ObjectNew.Name, fleet.ClusterStatus(e.ObjectNew))
			if m.hold && (lost(e.ObjectOld) && !lost(e.ObjectNew) || known(e.ObjectOld) && !known(e.ObjectNew)) {
				m.onCluster(ctx, e.ObjectNew.Name, everything, q)
				return
			}
			m.onCluster(ctx, e.ObjectNew.Name, differences(e.ObjectOld, e.ObjectNew), q)
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*clusterv1.ManagedCluster], q queue) {
			m.outages.Forget(e.Object.Name)
			if m.hold && known(e.Object) {
				m.onCluster(ctx, e.Object.Name, everything, q)
				return
			}
			m.onCluster(ctx, e.Object.Name, differences(e.Object, &clusterv1.ManagedCluster{}), q)
		},
	}
}

// everything stands for a change that concerns every add-on.
const everything = ^input.Set(0)

// differences tells what that edges can look at differs between two states.
func differences(before, after *clusterv1.ManagedCluster) input.Set {
	var uses input.Set
	if !maps.Equal(before.Labels, after.Labels) {
		uses |= input.Labels
	}
	if !slices.Equal(before.Status.ClusterClaims, after.Status.ClusterClaims) {
		uses |= input.Claims
	}
	if before.Status.Version.Kubernetes != after.Status.Version.Kubernetes {
		uses |= input.Kubernetes
	}
	return uses
}

// onCluster wakes the add-ons of a cluster that use what changed.
func (m mapping) onCluster(ctx context.Context, cluster string, changed input.Set, q queue) {
	catalog := m.declarations.Current()
	if changed == 0 || (changed != everything && (catalog == nil || !catalog.AnyInput(changed))) {
		return
	}
	keys, err := m.fleet.OnCluster(ctx, cluster)
	if err != nil {
		// The cache answers from memory; it fails only before it has synced,
		// and then every add-on is still to be evaluated.
		log.FromContext(ctx).Error(err, "Could not wake the add-ons of a cluster that has changed", "cluster", cluster)
	}
	for _, addOn := range keys {
		if changed == everything || catalog.Inputs(addOn.Name).Any(changed) {
			enqueue(q, addOn)
		}
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

// sameSubject compares what the conditions of an add-on's own edges look at.
func sameSubject(before, after installed) bool {
	return maps.Equal(before.Labels, after.Labels) && maps.Equal(before.Annotations, after.Annotations) &&
		slices.Equal(fleet.ConfigKeys(before), fleet.ConfigKeys(after))
}

// sameState compares what makes an add-on satisfy those that depend on it: of
// Degraded only whether a Required dependency fails, and since when. Its message
// changes more often, and concerns the add-on alone.
func sameState(before, after installed) bool {
	was, is := fleet.Degraded(before), fleet.Degraded(after)
	if evaluation.RequiredFails(was) != evaluation.RequiredFails(is) {
		return false
	}
	if evaluation.RequiredFails(is) && !was.LastTransitionTime.Equal(&is.LastTransitionTime) {
		return false
	}
	return sameCondition(fleet.Available(before), fleet.Available(after))
}

func sameCondition(before, after *metav1.Condition) bool {
	return apiequality.Semantic.DeepEqual(before, after)
}
