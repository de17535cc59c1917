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
	"open-cluster-management.io/interlock/pkg/dependency/condition/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

type (
	queue               = trigger.Queue
	managedClusterAddOn = *addonv1alpha1.ManagedClusterAddOn
	// AddOnHandler handles the events of add-ons.
	AddOnHandler = handler.TypedFuncs[managedClusterAddOn, reconcile.Request]
	// ClusterHandler handles the events of managed clusters.
	ClusterHandler = handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]
)

// Watch maps events to the add-ons that they enqueue.
type Watch struct {
	Declarations *declarations.Store
	Fleet        hubcache.Reader
	// Hold is true if verdicts on lost clusters are held.
	Hold   bool
	Memory *Memory
	// Acts is true if addon-manager runs the lifecycle.
	Acts bool
	// Forget drops the state of an add-on that was deleted, even if an add-on of the same
	// name was created before the next evaluation.
	Forget func(types.NamespacedName)
	// Lost records whether a managed cluster is lost, which means that its verdicts are held.
	Lost func(cluster string, lost bool)
	// Initial is called with each add-on that exists when addon-manager starts.
	Initial func(types.NamespacedName)
}

// AddOns handles the events of add-ons. An add-on is evaluated when it is created or deleted, when its Degraded
// changes or its gate is opened, and when an input of the conditions of its edges changes. While the lifecycle has a decision
// pending, it is evaluated after any change. Its dependents on the same cluster are evaluated when
//   - it is created or deleted,
//   - its Available changes,
//   - a Required dependency of its own begins or ceases to fail,
//   - its version changes and they use it.
func (w Watch) AddOns() AddOnHandler {
	return AddOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[managedClusterAddOn], q queue) {
			if e.IsInInitialList {
				w.Initial(key(e.Object)) // its readers and dependents are in the initial list too
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

// decides reports whether the lifecycle has a decision pending on an add-on: its gate is closed, an AddOnTemplate waits, conditions of
// the lifecycle are missing, or it is or was a bundle. Before the first catalog this is partly unknown, but every add-on will be evaluated
// then.
func (w Watch) decides(addOn managedClusterAddOn) bool {
	evaluator := w.Declarations.Current()
	return w.Acts && (fleet.GateClosed(addOn) || gate.Waits(fleet.Installable(addOn)) || fleet.WaitingTemplate(addOn) != "" ||
		bundle.Owned(fleet.Available(addOn)) ||
		evaluator != nil && (evaluator.Install(addOn.Name).Bundle || outcome.LacksCondition(evaluator.Declaration(addOn.Name), fleet.Stored(addOn))))
}

// rememberCreation records that an add-on is new, if an edge tolerates its unavailability.
func (w Watch) rememberCreation(addOn managedClusterAddOn) {
	if evaluator := w.Declarations.Current(); evaluator != nil && evaluator.Tolerates(addOn.Name) {
		w.Memory.unavailabilities.observeCreation(key(addOn))
	}
}

// enqueueDependents enqueues the dependents of the add-on on the same cluster. Before the first
// catalog no dependents are known, but every add-on will be evaluated then.
func (w Watch) enqueueDependents(addOn managedClusterAddOn, q queue) {
	w.enqueueDependentsIf(addOn, func(*evaluation.Evaluator, string) bool { return true }, q)
}

// enqueueDependentsUsing enqueues the dependents that use one of the inputs.
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

// enqueueReaders enqueues the add-ons whose verdicts use these inputs from the add-on: its
// labels, annotations, configuration, AddOnTemplate or version.
func (w Watch) enqueueReaders(addOn managedClusterAddOn, inputs input.Set, q queue) {
	evaluator := w.Declarations.Current()
	if evaluator == nil {
		return
	}
	for _, reader := range evaluator.Readers(addOn.Name, inputs&ownInputs) {
		enqueue(q, types.NamespacedName{Namespace: addOn.Namespace, Name: reader})
	}
}

// Clusters handles the events of managed clusters. A change of labels, claims or version enqueues the add-ons of the managed
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

// changedInputs returns the inputs of edges that differ. It returns all inputs when held verdicts
// end: the managed cluster is no longer lost, or it was deleted.
func (w Watch) changedInputs(old, updated *clusterv1.ManagedCluster) input.Set {
	oldStatus, newStatus := fleet.ClusterStatus(old), fleet.ClusterStatus(updated)
	if w.Hold && (oldStatus == metav1.ConditionUnknown && newStatus != metav1.ConditionUnknown || oldStatus != "" && newStatus == "") {
		return allInputs
	}
	return differences(old, updated)
}

// ownInputs has the inputs that come from an add-on's own ManagedClusterAddOn.
const ownInputs = input.AddOn | input.Config | input.Template | input.Version | input.Hosting

// allInputs stands for a change that affects every add-on.
const allInputs = ^input.Set(0)

// differences returns the inputs of edges that differ between two states of a cluster.
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

// enqueueOnCluster enqueues the add-ons of a cluster that use the changed inputs.
func (w Watch) enqueueOnCluster(ctx context.Context, cluster string, changed input.Set, q queue) {
	evaluator := w.Declarations.Current()
	if changed == 0 || (changed != allInputs && (evaluator == nil || !evaluator.AnyInput(changed))) {
		return
	}
	keys, err := w.Fleet.OnCluster(ctx, cluster)
	if err != nil {
		// The cache reads from memory. It fails only before it has synced, and every
		// add-on is evaluated after that.
		log.FromContext(ctx).Error(err, "Could not enqueue the add-ons of a cluster that has changed", "cluster", cluster)
	}
	for _, addOn := range keys {
		if changed == allInputs || evaluator.Inputs(addOn.Name).Any(changed) {
			enqueue(q, addOn)
		}
	}
}

// enqueueHosted enqueues the add-ons of other clusters whose agents a cluster runs, if their edges use that cluster. It
// is called when the cluster is created, deleted or no longer lost.
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

// replaced reports whether an update hides a deletion and a new creation, or begins a
// deletion.
func replaced(old, updated managedClusterAddOn) bool {
	return old.UID != updated.UID || old.DeletionTimestamp.IsZero() != updated.DeletionTimestamp.IsZero()
}

// sameSubject reports whether the inputs for the conditions of an add-on's own edges are equal.
func sameSubject(old, updated managedClusterAddOn) bool {
	return maps.Equal(old.Labels, updated.Labels) && maps.Equal(old.Annotations, updated.Annotations) &&
		slices.Equal(hubcache.ConfigKeys(old), hubcache.ConfigKeys(updated))
}

// sameState reports whether the inputs for the edges of dependents are equal. From Degraded,
// it compares only whether and since when a Required dependency fails. The message
// changes more often, and affects only the add-on itself.
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

// sameCondition compares two conditions. It avoids reflection, because it runs for every event.
func sameCondition(old, updated *metav1.Condition) bool {
	if old == nil || updated == nil || !old.LastTransitionTime.Equal(&updated.LastTransitionTime) {
		return old == updated
	}
	aligned := *old
	aligned.LastTransitionTime = updated.LastTransitionTime
	return aligned == *updated
}
