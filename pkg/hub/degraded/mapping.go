package degraded

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/trigger"
)

type (
	queue         = trigger.Queue
	installed     = *addonv1alpha1.ManagedClusterAddOn
	addOnHandler  = handler.TypedFuncs[installed, reconcile.Request]
	clusterHandle = handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]
)

// mapping is which event enqueues which add-ons.
type mapping struct {
	declarations *declarations.Store
	fleet        hubcache.Reader
	// hold is set where verdicts on lost clusters are held.
	hold   bool
	memory *Memory
	// forget drops what is remembered of an add-on that was deleted, even if another
	// of the same name was created before the next evaluation.
	forget func(types.NamespacedName)
	// lost records whether a managed cluster is lost, so its verdicts are held.
	lost func(cluster string, lost bool)
	// initial gets each add-on that exists when addon-manager starts.
	initial func(types.NamespacedName)
}

// addOns: an add-on is evaluated when it is created or deleted, when its Degraded
// changes or its gate is opened, and when what the conditions of its edges use of it changes. Its
// dependents on the same cluster are evaluated when
//   - it is created or deleted,
//   - its Available changes,
//   - a Required dependency of its own begins or ceases to fail,
//   - its version changes and they use it.
func (m mapping) addOns() addOnHandler {
	return addOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[installed], q queue) {
			if e.IsInInitialList {
				m.initial(key(e.Object)) // and so will its readers and dependents
				return
			}
			m.memory.observe(key(e.Object), fleet.Templates{}, fleet.TemplatesOf(e.Object))
			m.created(e.Object)
			enqueue(q, key(e.Object))
			m.readers(e.Object, everything, q)
			m.dependents(e.Object, 0, q)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[installed], q queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID {
				m.forget(key(e.ObjectOld))
				m.memory.forget(key(e.ObjectOld))
				m.created(e.ObjectNew)
			} else {
				m.memory.observe(key(e.ObjectNew), fleet.TemplatesOf(e.ObjectOld), fleet.TemplatesOf(e.ObjectNew))
			}
			if !availability.ClusterLost(fleet.Available(e.ObjectNew)) {
				m.memory.Outages.Reported(key(e.ObjectNew))
			}
			if replaced(e.ObjectOld, e.ObjectNew) || fleet.GateClosed(e.ObjectOld) != fleet.GateClosed(e.ObjectNew) ||
				!sameCondition(fleet.Degraded(e.ObjectOld), fleet.Degraded(e.ObjectNew)) ||
				!sameCondition(fleet.Installable(e.ObjectOld), fleet.Installable(e.ObjectNew)) ||
				!sameCondition(fleet.Upgradable(e.ObjectOld), fleet.Upgradable(e.ObjectNew)) {
				enqueue(q, key(e.ObjectNew))
			}
			if !sameSubject(e.ObjectOld, e.ObjectNew) {
				m.readers(e.ObjectNew, input.AddOn|input.Config|input.Hosting, q)
			}
			sameVersion := fleet.SameVersionSources(e.ObjectOld, e.ObjectNew)
			if !sameVersion {
				m.readers(e.ObjectNew, input.Template|input.Version, q)
			}
			switch {
			case replaced(e.ObjectOld, e.ObjectNew) || !sameState(e.ObjectOld, e.ObjectNew):
				m.dependents(e.ObjectNew, 0, q)
			case !sameVersion:
				m.dependents(e.ObjectNew, input.Versions, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[installed], q queue) {
			m.forget(key(e.Object))
			m.memory.forget(key(e.Object))
			m.memory.Outages.Reported(key(e.Object))
			enqueue(q, key(e.Object))
			m.readers(e.Object, everything, q)
			m.dependents(e.Object, 0, q)
		},
	}
}

// created remembers that an add-on is new, where an edge tolerates that it is unavailable.
func (m mapping) created(addOn installed) {
	if declared := m.declarations.Current(); declared != nil && declared.Tolerates(addOn.Name) {
		m.memory.lapses.created(key(addOn))
	}
}

// dependents enqueues the add-ons on the same cluster that depend on the add-on and
// use what is given; zero: all of them. Before the first catalog no dependents are
// known, and every add-on is still to be evaluated.
func (m mapping) dependents(addOn installed, using input.Set, q queue) {
	declared := m.declarations.Current()
	if declared == nil {
		return
	}
	for _, dependent := range declared.Dependents(addOn.Name) {
		if using == 0 || declared.Inputs(dependent).Any(using) {
			enqueue(q, types.NamespacedName{Namespace: addOn.Namespace, Name: dependent})
		}
	}
}

// readers enqueues the add-ons whose verdicts depend on these inputs of the add-on's own:
// its labels, annotations, configuration, AddOnTemplate or version.
func (m mapping) readers(addOn installed, inputs input.Set, q queue) {
	declared := m.declarations.Current()
	if declared == nil {
		return
	}
	for _, peer := range declared.Readers(addOn.Name, inputs&ofItself) {
		enqueue(q, types.NamespacedName{Namespace: addOn.Namespace, Name: peer})
	}
}

// clusters: a change of labels, claims or version concerns the add-ons of the managed
// cluster that use it.
func (m mapping) clusters() clusterHandle {
	none := &clusterv1.ManagedCluster{}
	return clusterHandle{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*clusterv1.ManagedCluster], q queue) {
			m.observeCluster(e.Object.Name, fleet.ClusterStatus(e.Object))
			m.onCluster(ctx, e.Object.Name, m.changed(none, e.Object), q)
			m.hosted(ctx, e.Object.Name, q)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], q queue) {
			m.observeCluster(e.ObjectNew.Name, fleet.ClusterStatus(e.ObjectNew))
			m.onCluster(ctx, e.ObjectNew.Name, m.changed(e.ObjectOld, e.ObjectNew), q)
			was, is := fleet.ClusterStatus(e.ObjectOld), fleet.ClusterStatus(e.ObjectNew)
			if was != is && (was != metav1.ConditionTrue || is == "") {
				m.hosted(ctx, e.ObjectNew.Name, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*clusterv1.ManagedCluster], q queue) {
			m.memory.Outages.Forget(e.Object.Name)
			m.lost(e.Object.Name, false)
			m.onCluster(ctx, e.Object.Name, m.changed(e.Object, none), q)
			m.hosted(ctx, e.Object.Name, q)
		},
	}
}

func (m mapping) observeCluster(name string, status metav1.ConditionStatus) {
	m.memory.Outages.Observe(name, status)
	m.lost(name, m.hold && status == metav1.ConditionUnknown)
}

// changed returns which inputs of edges differ. Held verdicts end when a managed cluster
// is no longer lost, and when there is no cluster any more that could report.
func (m mapping) changed(before, after *clusterv1.ManagedCluster) input.Set {
	was, is := fleet.ClusterStatus(before), fleet.ClusterStatus(after)
	if m.hold && (was == metav1.ConditionUnknown && is != metav1.ConditionUnknown || was != "" && is == "") {
		return everything
	}
	return differences(before, after)
}

// ofItself are the inputs that are of an add-on's own ManagedClusterAddOn.
const ofItself = input.AddOn | input.Config | input.Template | input.Version | input.Hosting

// everything stands for a change that concerns every add-on.
const everything = ^input.Set(0)

// differences returns which inputs of edges differ between two states.
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

// onCluster enqueues the add-ons of a cluster that use what changed.
func (m mapping) onCluster(ctx context.Context, cluster string, changed input.Set, q queue) {
	declared := m.declarations.Current()
	if changed == 0 || (changed != everything && (declared == nil || !declared.AnyInput(changed))) {
		return
	}
	keys, err := m.fleet.OnCluster(ctx, cluster)
	if err != nil {
		// The cache reads from memory. It fails only before it has synced, and then
		// every add-on is still to be evaluated.
		log.FromContext(ctx).Error(err, "Could not enqueue the add-ons of a cluster that has changed", "cluster", cluster)
	}
	for _, addOn := range keys {
		if changed == everything || declared.Inputs(addOn.Name).Any(changed) {
			enqueue(q, addOn)
		}
	}
}

// hosted enqueues the add-ons of other clusters whose agents a cluster runs, where their edges need it: it became
// known whether the hub has the cluster, or the cluster is no longer lost.
func (m mapping) hosted(ctx context.Context, cluster string, q queue) {
	declared := m.declarations.Current()
	if declared == nil || !declared.AnyInput(input.Hosting) {
		return
	}
	hosting, err := m.fleet.Hosting(ctx, cluster)
	if err != nil {
		log.FromContext(ctx).Error(err, "Could not enqueue the add-ons that a cluster runs for others", "cluster", cluster)
	}
	for i := range hosting {
		if declared.OwnInputs(hosting[i].Name).Any(input.Hosting) {
			enqueue(q, key(&hosting[i]))
		}
	}
}

func key(addOn installed) types.NamespacedName {
	return types.NamespacedName{Namespace: addOn.Namespace, Name: addOn.Name}
}

func enqueue(q queue, name types.NamespacedName) {
	q.Add(reconcile.Request{NamespacedName: name})
}

// replaced reports whether an update hides a deletion and a new creation, or is the
// beginning of a deletion.
func replaced(before, after installed) bool {
	return before.UID != after.UID || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
}

// sameSubject compares what the conditions of an add-on's own edges use of it.
func sameSubject(before, after installed) bool {
	return maps.Equal(before.Labels, after.Labels) && maps.Equal(before.Annotations, after.Annotations) &&
		slices.Equal(hubcache.ConfigKeys(before), hubcache.ConfigKeys(after))
}

// sameState compares what makes an add-on satisfy those that depend on it: of
// Degraded only whether a Required dependency fails, and since when. Its message
// changes more often, and concerns the add-on alone.
func sameState(before, after installed) bool {
	was, is := fleet.Degraded(before), fleet.Degraded(after)
	if availability.RequiredFails(was) != availability.RequiredFails(is) {
		return false
	}
	if availability.RequiredFails(is) && !was.LastTransitionTime.Equal(&is.LastTransitionTime) {
		return false
	}
	return sameCondition(fleet.Available(before), fleet.Available(after))
}

// sameCondition does without reflection, because it sees every event.
func sameCondition(before, after *metav1.Condition) bool {
	if before == nil || after == nil || !before.LastTransitionTime.Equal(&after.LastTransitionTime) {
		return before == after
	}
	was := *before
	was.LastTransitionTime = after.LastTransitionTime
	return was == *after
}
