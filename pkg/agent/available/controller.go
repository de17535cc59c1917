// Package available sets the condition Available of every add-on on the agent's
// cluster, from the add-on's lease and its dependencies.
package available

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/agent/addonevents"
	"open-cluster-management.io/interlock/pkg/agent/addons"
	"open-cluster-management.io/interlock/pkg/agent/agentmetrics"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
)

// Leases watches and reads leases; see leases.Watcher.
type Leases interface {
	Watch(leases.Reference)
	Unwatch(addOn string)
	Lease(leases.Reference) availability.Lease
	Read(context.Context, leases.Reference) (availability.Lease, error)
}

// Reconciler decides and writes the condition Available of one add-on.
type Reconciler struct {
	Clock       clock.PassiveClock
	AddOns      client.Reader
	Writer      conditionwriter.Writer
	Leases      Leases
	Backoff     *backoff.Tracker
	Metrics     *agentmetrics.Metrics
	Events      *addonevents.Recorder
	GracePeriod time.Duration
	// Trigger enqueues add-ons in this controller.
	Trigger *trigger.Trigger

	// memories has the Memory of the last decision about each add-on, by the add-on's key. A restart empties it: each finding is
	// then asserted once more, and each health check that has not reported is awaited anew.
	memories sync.Map
}

// Reconcile decides on Available of the add-on, and writes it if it changed. It
// enqueues the add-on for the moment when time alone changes the decision.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := r.AddOns.Get(ctx, request.NamespacedName, addOn); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("read add-on %s: %w", request.NamespacedName, err)
	}
	decision, err := r.decide(ctx, addOn)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.reportSkew(ctx, addOn, decision.Skew)
	if !decision.Write {
		r.remember(request.NamespacedName, decision.Memory)
		if stored := meta.FindStatusCondition(addOn.Status.Conditions, availability.ConditionAvailable); availability.Follows(stored, degradedOf(addOn)) {
			r.Backoff.Reached(request.NamespacedName, backoff.Condition(*stored)) // by the guard, or by a stock writer
		}
		return controllers.At(decision.NextChange, r.Clock.Now()), nil
	}
	if wait := r.Backoff.Wait(request.NamespacedName, backoff.Condition(decision.Condition)); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.write(ctx, addOn, decision)
}

// decide loads the inputs of the decision, and makes it. Only in Lease mode a lease
// is watched. The watch goes on while a dependency fails, because Available follows
// the lease as soon as the dependency is satisfied.
func (r *Reconciler) decide(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (availability.Decision, error) {
	input := r.inputWithoutLease(addOn)
	if addons.Customized(addOn) {
		r.Leases.Unwatch(addOn.Name)
		r.Metrics.LeaseUnwatched(addOn.Name)
		return availability.Decide(input), nil
	}
	reference := leases.ReferenceOf(addOn)
	r.Leases.Watch(reference)
	input.Lease = r.Leases.Lease(reference)
	r.Metrics.LeaseWatched(addOn.Name, string(reference.Place), input.Lease.State != availability.LeaseUnobserved)

	decision := availability.Decide(input)
	if !decision.Write || decision.Condition.Reason != availability.ReasonLeaseStopped {
		return decision, nil
	}
	// The lease of a healthy add-on looks the same while its API server cannot be
	// reached. Then Available keeps its value.
	var err error
	if input.Lease, err = r.Leases.Read(ctx, reference); err != nil {
		return availability.Decision{}, fmt.Errorf("keep Available of %s as it is: %w", addOn.Name, err)
	}
	return availability.Decide(input), nil
}

// inputWithoutLease returns the input of the decision. The caller adds the lease.
func (r *Reconciler) inputWithoutLease(addOn *addonv1alpha1.ManagedClusterAddOn) availability.Input {
	return availability.Input{
		AddOn:          addOn.Name,
		Mode:           addOn.Status.HealthCheck.Mode,
		Available:      meta.FindStatusCondition(addOn.Status.Conditions, availability.ConditionAvailable),
		Degraded:       degradedOf(addOn),
		HostingCluster: addons.HostingCluster(addOn),
		Memory:         r.remembered(client.ObjectKeyFromObject(addOn)),
		GracePeriod:    r.GracePeriod,
		Now:            r.Clock.Now(),
	}
}

func degradedOf(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, availability.ConditionDegraded)
}

// write applies the condition, and reports that in the log, a metric and an event.
func (r *Reconciler) write(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, decision availability.Decision,
) (reconcile.Result, error) {
	key, desired := client.ObjectKeyFromObject(addOn), decision.Condition
	switch _, err := r.Writer.Apply(ctx, names.AddonAgent, addOn, desired); {
	case apierrors.IsConflict(err):
		r.Metrics.Wrote(addOn.Name, desired, agentmetrics.WriteConflict)
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err):
		// The add-on was deleted since it was read. The watch event of the deletion cleans up.
		return reconcile.Result{}, nil
	case err != nil:
		r.Metrics.Wrote(addOn.Name, desired, agentmetrics.WriteError)
		return reconcile.Result{}, fmt.Errorf("write Available=%s/%s of %s: %w", desired.Status, desired.Reason, key, err)
	}
	r.remember(key, decision.Memory)
	r.Metrics.Wrote(addOn.Name, desired, agentmetrics.WriteSuccess)
	log.FromContext(ctx).Info("Available changed", "status", desired.Status, "reason", desired.Reason, "message", desired.Message)
	if r.Backoff.Wrote(key, backoff.Condition(desired)) {
		r.Metrics.Contested(addOn.Name)
		r.Events.Contested(ctx, addOn)
	} else if stored := meta.FindStatusCondition(addOn.Status.Conditions, desired.Type); needsEvent(stored, desired) {
		r.Events.Transition(ctx, addOn, desired)
	}
	return controllers.At(decision.NextChange, r.Clock.Now()), nil
}

// needsEvent reports whether the add-on became unavailable, or is unavailable for another reason. If that only follows from
// Degraded, addon-manager has emitted an event on the same object. A recovery gets no event, so that a fleet that recovers does not
// load the hub with events. A health check that is awaited belongs to the recovery.
func needsEvent(stored *metav1.Condition, desired metav1.Condition) bool {
	recovers := desired.Status == metav1.ConditionTrue ||
		desired.Status == metav1.ConditionFalse && desired.Reason == availability.ReasonAwaitingHealthCheck
	if recovers || desired.Reason == availability.ReasonRequiredDependencyNotSatisfied {
		return false
	}
	return stored == nil || stored.Status != desired.Status || stored.Reason != desired.Reason
}

func (r *Reconciler) reportSkew(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, ahead time.Duration) {
	r.Metrics.Skewed(addOn.Name, ahead)
	if ahead > 0 {
		r.Events.Skewed(ctx, addOn, ahead)
	}
}

func (r *Reconciler) remembered(key types.NamespacedName) availability.Memory {
	value, _ := r.memories.Load(key)
	memory, _ := value.(availability.Memory)
	return memory
}

// remember replaces the Memory of the add-on. An empty one deletes it.
func (r *Reconciler) remember(key types.NamespacedName, memory availability.Memory) {
	if memory == (availability.Memory{}) {
		r.memories.Delete(key)
		return
	}
	r.memories.Store(key, memory)
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.Leases.Unwatch(key.Name)
	r.remember(key, availability.Memory{})
	r.Backoff.Forget(key)
	r.Events.Forget(key)
	r.Metrics.Forget(key.Name)
}
