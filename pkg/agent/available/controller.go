// Package available keeps the Available condition of every add-on on the
// agent's cluster true to the add-on's lease and to its dependencies.
package available

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/agent/addons"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/metrics"
	"open-cluster-management.io/interlock/pkg/agent/notes"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
)

// FieldManager is the name under which addon-agent owns Available.
const FieldManager = "interlock-addon-agent"

// afterConflict brings the add-on back once the cache has had time to catch up
// with a write of somebody else's that came first; such a write need not be one
// that wakes us. The queue's own backoff bounds what a busy writer can cause.
var afterConflict = reconcile.Result{Requeue: true}

// Leases are what is known of leases; see the package of that name.
type Leases interface {
	Observe(leases.Reference) availability.Lease
	Ask(context.Context, leases.Reference) (availability.Lease, error)
	Forget(name string)
}

// Reconciler decides and applies the Available condition of one add-on.
type Reconciler struct {
	Clock       clock.PassiveClock
	AddOns      client.Reader
	Writer      condition.Writer
	Leases      Leases
	Contention  *backoff.Tracker
	Metrics     *metrics.Metrics
	Notes       *notes.Recorder
	GracePeriod time.Duration

	asserted assertions
}

// Reconcile decides on the add-on of the key, writes Available if that
// changed, and comes back at the moment when time alone changes the decision.
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
	r.tellSkew(ctx, addOn, decision.Skew)
	if !decision.Write {
		r.asserted.remember(request.NamespacedName, decision.Asserted)
		return r.at(decision.LookAgain), nil
	}
	if wait := r.Contention.Wait(request.NamespacedName, decision.Condition); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.write(ctx, addOn, decision)
}

// decide loads what the decision rests on, and makes it. Only in Lease mode
// is a lease watched; it stays so while a dependency fails, to know at once
// what to go back to.
func (r *Reconciler) decide(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (availability.Decision, error) {
	in := availability.Input{
		AddOn:          addOn.Name,
		Mode:           addOn.Status.HealthCheck.Mode,
		Available:      meta.FindStatusCondition(addOn.Status.Conditions, availability.ConditionAvailable),
		Degraded:       meta.FindStatusCondition(addOn.Status.Conditions, availability.ConditionDegraded),
		HostingCluster: addons.HostingCluster(addOn),
		Asserted:       r.asserted.of(client.ObjectKeyFromObject(addOn)),
		GracePeriod:    r.GracePeriod,
		Now:            r.Clock.Now(),
	}
	if addons.Customized(addOn) {
		r.Leases.Forget(addOn.Name)
		r.Metrics.LeaseUnwatched(addOn.Name)
		return availability.Decide(in), nil
	}
	reference := leases.Of(addOn)
	in.Lease = r.Leases.Observe(reference)
	r.Metrics.LeaseWatched(addOn.Name, string(reference.Place), in.Lease.State != availability.LeaseUnobserved)

	decision := availability.Decide(in)
	if !decision.Write || decision.Condition.Reason != availability.ReasonLeaseStopped {
		return decision, nil
	}
	// The lease of an add-on that lives looks the same while its API server
	// cannot be reached; then the last state is kept.
	var err error
	if in.Lease, err = r.Leases.Ask(ctx, reference); err != nil {
		return availability.Decision{}, fmt.Errorf("keep Available of %s as it is: %w", addOn.Name, err)
	}
	return availability.Decide(in), nil
}

// write applies the condition and tells of it.
func (r *Reconciler) write(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, decision availability.Decision,
) (reconcile.Result, error) {
	key, desired := client.ObjectKeyFromObject(addOn), decision.Condition
	switch err := r.Writer.Apply(ctx, FieldManager, addOn, desired); {
	case apierrors.IsConflict(err):
		r.Metrics.Wrote(addOn.Name, desired, metrics.WriteConflict)
		return afterConflict, nil
	case apierrors.IsNotFound(err):
		// Deleted since it was read; its own event cleans up.
		return reconcile.Result{}, nil
	case err != nil:
		r.Metrics.Wrote(addOn.Name, desired, metrics.WriteError)
		return reconcile.Result{}, fmt.Errorf("write Available=%s/%s of %s: %w", desired.Status, desired.Reason, key, err)
	}
	r.asserted.remember(key, decision.Asserted)
	r.Metrics.Wrote(addOn.Name, desired, metrics.WriteSuccess)
	log.FromContext(ctx).Info("Available changed", "status", desired.Status, "reason", desired.Reason, "message", desired.Message)
	if r.Contention.Wrote(key, desired) {
		r.Metrics.Contested(addOn.Name)
		r.Notes.Contested(ctx, addOn)
	} else if before := meta.FindStatusCondition(addOn.Status.Conditions, desired.Type); worthAnEvent(before, desired) {
		r.Notes.Transition(ctx, addOn, desired)
	}
	return r.at(decision.LookAgain), nil
}

// worthAnEvent reports whether something is wrong, and more than the message is
// another one. What only follows from Degraded is not told again: addon-manager
// has told of that, on the same object. A fleet that recovers has no time for
// events at all.
func worthAnEvent(before *metav1.Condition, after metav1.Condition) bool {
	if after.Status == metav1.ConditionTrue || after.Reason == availability.ReasonRequiredDependencyNotSatisfied {
		return false
	}
	return before == nil || before.Status != after.Status || before.Reason != after.Reason
}

// at returns the result that brings the add-on back at that moment.
func (r *Reconciler) at(moment time.Time) reconcile.Result {
	if moment.IsZero() {
		return reconcile.Result{}
	}
	// A moment that has passed meanwhile is as good as now; zero would be never.
	return reconcile.Result{RequeueAfter: max(moment.Sub(r.Clock.Now()), time.Nanosecond)}
}

func (r *Reconciler) tellSkew(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, ahead time.Duration) {
	r.Metrics.Skewed(addOn.Name, ahead)
	if ahead > 0 {
		r.Notes.Skewed(ctx, addOn, ahead)
	}
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.Leases.Forget(key.Name)
	r.asserted.remember(key, "")
	r.Contention.Forget(key)
	r.Notes.Forget(key)
	r.Metrics.Gone(key.Name)
}
