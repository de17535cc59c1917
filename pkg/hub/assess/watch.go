package assess

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
	"open-cluster-management.io/interlock/pkg/dependency/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/outcome"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/trigger"
)

type (
	queue     = trigger.Queue
	managedClusterAddOn = *addonv1alpha1.ManagedClusterAddOn
	// AddOnHandler handles the events of add-ons.
	AddOnHandler = handler.TypedFuncs[managedClusterAddOn, reconcile.Request]
	// ClusterHandler handles the events of managed clusters.
	ClusterHandler = handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]
)

// Watch is which event enqueues which add-ons.
type Watch struct {
	Declarations *declarations.Store
	Fleet        hubcache.Reader
	// Hold is set where verdicts on lost clusters are held.
	Hold   bool
	Memory *Memory
	// Acts: addon-manager runs the lifecycle.
	Acts bool
	// Forget drops what is remembered of an add-on that was deleted, even if another
	// of the same name was created before the next evaluation.
	Forget func(types.NamespacedName)
	// Lost records whether a managed cluster is lost, so its verdicts are held.
	Lost func(cluster string, lost bool)
	// Initial gets each add-on that exists when addon-manager starts.
	Initial func(types.NamespacedName)
}

// AddOns handles the events of add-ons. An add-on is evaluated when it is created or deleted, when its Degraded
// changes or its gate is opened, when what the conditions of its edges use of it changes, and at any change where the lifecycle
// has something to decide. Its dependents on the same cluster are evaluated when
//   - it is created or deleted,
//   - its Available changes,
//   - a Required dependency of its own begins or ceases to fail,
//   - its version changes and they use it.
func (w Watch) AddOns() AddOnHandler {
	return AddOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[managedClusterAddOn], q queue) {
			if e.IsInInitialList {
				w.Initial(key(e.Object)) // and so will its readers and dependents
				return
			}
			w.Memory.observe(key(e.Object), fleet.Templates{}, fleet.TemplatesOf(e.Object))
			w.rememberCreation(e.Object)
			enqueue(q, key(e.Object))
			w.enqueueReaders(e.Object, allInputs, q)
			w.enqueueDependents(e.Object, q)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[managedClusterAddOn], q queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID {
				w.Forget(key(e.ObjectOld))
				w.Memory.Forget(key(e.ObjectOld))
				w.rememberCreation(e.ObjectNew)
			} else {
				w.Memory.observe(key(e.ObjectNew), fleet.TemplatesOf(e.ObjectOld), fleet.TemplatesOf(e.ObjectNew))
			}
			if !availability.ClusterLost(fleet.Available(e.ObjectNew)) {
				w.Memory.Outages.Reported(key(e.ObjectNew))
			}
			if replaced(e.ObjectOld, e.ObjectNew) || fleet.GateClosed(e.ObjectOld) != fleet.GateClosed(e.ObjectNew) ||
				!sameCondition(fleet.Degraded(e.ObjectOld), fleet.Degraded(e.ObjectNew)) ||
				!sameCondition(fleet.ReplacedDegraded(e.ObjectOld), fleet.ReplacedDegraded(e.ObjectNew)) ||
				!sameCondition(fleet.Installable(e.ObjectOld), fleet.Installable(e.ObjectNew)) ||
				!sameCondition(fleet.Upgradable(e.ObjectOld), fleet.Upgradable(e.ObjectNew)) ||
				w.decides(e.ObjectOld) || w.decides(e.ObjectNew) {
				enqueue(q, key(e.ObjectNew))
			}
			if !sameSubject(e.ObjectOld, e.ObjectNew) {
				w.enqueueReaders(e.ObjectNew, input.AddOn|input.Config|input.Hosting, q)
			}
			sameVersion := fleet.SameVersionSources(e.ObjectOld, e.ObjectNew)
			if !sameVersion {
				w.enqueueReaders(e.ObjectNew, input.Template|input.Version, q)
			}
			switch {
			case replaced(e.ObjectOld, e.ObjectNew) || !sameState(e.ObjectOld, e.ObjectNew):
				w.enqueueDependents(e.ObjectNew, q)
			case !sameVersion:
				w.enqueueDependentsUsing(e.ObjectNew, input.Versions, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[managedClusterAddOn], q queue) {
			w.Forget(key(e.Object))
			w.Memory.Forget(key(e.Object))
			w.Memory.Outages.Reported(key(e.Object))
			enqueue(q, key(e.Object))
			w.enqueueReaders(e.Object, allInputs, q)
			w.enqueueDependents(e.Object, q)
		},
	}
}

// decides reports whether the lifecycle has something to decide on an add-on: its gate is closed, an AddOnTemplate waits, or others will
// have to, or it is or was a bundle. Before the first catalog some of that is not known; every add-on is still to be evaluated then.
func (w Watch) decides(addOn managedClusterAddOn) bool {
	evaluator := w.Declarations.Current()
	return w.Acts && (fleet.GateClosed(addOn) || gate.Waits(fleet.Installable(addOn)) || fleet.WaitingTemplate(addOn) != "" ||
		bundle.Owned(fleet.Available(addOn)) ||
		evaluator != nil && (evaluator.Install(addOn.Name).Bundle || outcome.LacksCondition(evaluator.Declaration(addOn.Name), fleet.Stored(addOn))))
}

// created remembers that an add-on is new, where an edge tolerates that it is unavailable.
func (w Watch) rememberCreation(addOn managedClusterAddOn) {
	if evaluator := w.Declarations.Current(); evaluator != nil && evaluator.Tolerates(addOn.Name) {
		w.Memory.unavailabilities.observeCreation(key(addOn))
	}
}

// dependents enqueues the add-ons on the same cluster that depend on the add-on. Before
// the first catalog no dependents are known, and every add-on is still to be evaluated.
func (w Watch) enqueueDependents(addOn managedClusterAddOn, q queue) {
	w.enqueueDependentsIf(addOn, func(*evaluation.Evaluator, string) bool { return true }, q)
}

// dependentsUsing enqueues those dependents that use one of the inputs.
func (w Watch) enqueueDependentsUsing(addOn managedClusterAddOn, inputs input.Set, q queue) {
	uses := func(evaluator *evaluation.Evaluator, dependent string) bool {
		return evaluator.Inputs(dependent).Any(inputs)
	}
	w.enqueueDependentsIf(addOn, uses, q)
}

func (w Watch) enqueueDependentsIf(addOn managedClusterAddOn, concerns func(evaluator *evaluation.Evaluator, dependent string) bool, q queue) {
	evaluator := w.Declarations.Current()
	if evaluator == nil {
		return
	}
	for _, dependent := range evaluator.Dependents(addOn.Name) {
		if concerns(evaluator, dependent) {
			enqueue(q, types.NamespacedName{Namespace: addOn.Namespace, Name: dependent})
		}
	}
}

// readers enqueues the add-ons whose verdicts depend on these inputs of the add-on's own:
// its labels, annotations, configuration, AddOnTemplate or version.
func (w Watch) enqueueReaders(addOn managedClusterAddOn, inputs input.Set, q queue) {
	evaluator := w.Declarations.Current()
	if evaluator == nil {
		return
	}
	for _, reader := range evaluator.Readers(addOn.Name, inputs&ownInputs) {
		enqueue(q, types.NamespacedName{Namespace: addOn.Namespace, Name: reader})
	}
}

// Clusters handles the events of managed clusters. A change of labels, claims or version concerns the add-ons of the managed
// cluster that use it.
func (w Watch) Clusters() ClusterHandler {
	absent := &clusterv1.ManagedCluster{}
	return ClusterHandler{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*clusterv1.ManagedCluster], q queue) {
			w.observeCluster(e.Object.Name, fleet.ClusterStatus(e.Object))
			w.enqueueOnCluster(ctx, e.Object.Name, w.changedInputs(absent, e.Object), q)
			w.enqueueHosted(ctx, e.Object.Name, q)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], q queue) {
			w.observeCluster(e.ObjectNew.Name, fleet.ClusterStatus(e.ObjectNew))
			w.enqueueOnCluster(ctx, e.ObjectNew.Name, w.changedInputs(e.ObjectOld, e.ObjectNew), q)
			oldStatus, newStatus := fleet.ClusterStatus(e.ObjectOld), fleet.ClusterStatus(e.ObjectNew)
			if oldStatus != newStatus && (oldStatus != metav1.ConditionTrue || newStatus == "") {
				w.enqueueHosted(ctx, e.ObjectNew.Name, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*clusterv1.ManagedCluster], q queue) {
			w.Memory.Outages.Forget(e.Object.Name)
			w.Lost(e.Object.Name, false)
			w.enqueueOnCluster(ctx, e.Object.Name, w.changedInputs(e.Object, absent), q)
			w.enqueueHosted(ctx, e.Object.Name, q)
		},
	}
}

func (w Watch) observeCluster(name string, status metav1.ConditionStatus) {
	w.Memory.Outages.Observe(name, status)
	w.Lost(name, w.Hold && status == metav1.ConditionUnknown)
}

// changed returns which inputs of edges differ. Held verdicts end when a managed cluster
// is no longer lost, and when there is no cluster any more that could report.
func (w Watch) changedInputs(old, updated *clusterv1.ManagedCluster) input.Set {
	oldStatus, newStatus := fleet.ClusterStatus(old), fleet.ClusterStatus(updated)
	if w.Hold && (oldStatus == metav1.ConditionUnknown && newStatus != metav1.ConditionUnknown || oldStatus != "" && newStatus == "") {
		return allInputs
	}
	return differences(old, updated)
}

// ofItself are the inputs that are of an add-on's own ManagedClusterAddOn.
const ownInputs = input.AddOn | input.Config | input.Template | input.Version | input.Hosting

// everything stands for a change that concerns every add-on.
const allInputs = ^input.Set(0)

// differences returns which inputs of edges differ between two states.
func differences(old, updated *clusterv1.ManagedCluster) input.Set {
	var inputs input.Set
	if !maps.Equal(old.Labels, updated.Labels) {
		inputs |= input.Labels
	}
	if !slices.Equal(old.Status.ClusterClaims, updated.Status.ClusterClaims) {
		inputs |= input.Claims
	}
	if old.Status.Version.Kubernetes != updated.Status.Version.Kubernetes {
		inputs |= input.Kubernetes
	}
	return inputs
}

// onCluster enqueues the add-ons of a cluster that use what changed.
func (w Watch) enqueueOnCluster(ctx context.Context, cluster string, changed input.Set, q queue) {
	evaluator := w.Declarations.Current()
	if changed == 0 || (changed != allInputs && (evaluator == nil || !evaluator.AnyInput(changed))) {
		return
	}
	keys, err := w.Fleet.OnCluster(ctx, cluster)
	if err != nil {
		// The cache reads from memory. It fails only before it has synced, and then
		// every add-on is still to be evaluated.
		log.FromContext(ctx).Error(err, "Could not enqueue the add-ons of a cluster that has changed", "cluster", cluster)
	}
	for _, addOn := range keys {
		if changed == allInputs || evaluator.Inputs(addOn.Name).Any(changed) {
			enqueue(q, addOn)
		}
	}
}

// hosted enqueues the add-ons of other clusters whose agents a cluster runs, where their edges need it: it became
// known whether the hub has the cluster, or the cluster is no longer lost.
func (w Watch) enqueueHosted(ctx context.Context, cluster string, q queue) {
	evaluator := w.Declarations.Current()
	if evaluator == nil || !evaluator.AnyInput(input.Hosting) {
		return
	}
	hosting, err := w.Fleet.Hosting(ctx, cluster)
	if err != nil {
		log.FromContext(ctx).Error(err, "Could not enqueue the add-ons that a cluster runs for others", "cluster", cluster)
	}
	for i := range hosting {
		if evaluator.OwnInputs(hosting[i].Name).Any(input.Hosting) {
			enqueue(q, key(&hosting[i]))
		}
	}
}

func key(addOn managedClusterAddOn) types.NamespacedName {
	return types.NamespacedName{Namespace: addOn.Namespace, Name: addOn.Name}
}

func enqueue(q queue, name types.NamespacedName) {
	q.Add(reconcile.Request{NamespacedName: name})
}

// replaced reports whether an update hides a deletion and a new creation, or is the
// beginning of a deletion.
func replaced(old, updated managedClusterAddOn) bool {
	return old.UID != updated.UID || old.DeletionTimestamp.IsZero() != updated.DeletionTimestamp.IsZero()
}

// sameSubject compares what the conditions of an add-on's own edges use of it.
func sameSubject(old, updated managedClusterAddOn) bool {
	return maps.Equal(old.Labels, updated.Labels) && maps.Equal(old.Annotations, updated.Annotations) &&
		slices.Equal(hubcache.ConfigKeys(old), hubcache.ConfigKeys(updated))
}

// sameState compares what makes an add-on satisfy those that depend on it: of
// Degraded only whether a Required dependency fails, and since when. Its message
// changes more often, and concerns the add-on alone.
func sameState(old, updated managedClusterAddOn) bool {
	oldDegraded, newDegraded := fleet.Degraded(old), fleet.Degraded(updated)
	if availability.RequiredFails(oldDegraded) != availability.RequiredFails(newDegraded) {
		return false
	}
	if availability.RequiredFails(newDegraded) && !oldDegraded.LastTransitionTime.Equal(&newDegraded.LastTransitionTime) {
		return false
	}
	return sameCondition(fleet.Available(old), fleet.Available(updated))
}

// sameCondition does without reflection, because it sees every event.
func sameCondition(old, updated *metav1.Condition) bool {
	if old == nil || updated == nil || !old.LastTransitionTime.Equal(&updated.LastTransitionTime) {
		return old == updated
	}
	aligned := *old
	aligned.LastTransitionTime = updated.LastTransitionTime
	return aligned == *updated
}
