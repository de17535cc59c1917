// Package degraded keeps the Degraded condition of every add-on on every managed
// cluster in line with the state of its dependencies there.
package degraded

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	conditionwriter "open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Reconciler decides and applies the Degraded condition of one add-on on one
// managed cluster.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Writer       conditionwriter.Writer
	Declarations *declarations.Store
	Backoff      *backoff.Tracker
	// Messages are the turns of add-ons whose conditions change only their message while the gate is closed.
	Messages *backoff.Turns
	Metrics  *metrics.Metrics
	Recorder events.EventRecorder
	// EventLimiter limits events on transitions; nil: all are emitted.
	EventLimiter flowcontrol.PassiveRateLimiter
	// Loader loads what add-ons are evaluated with. It uses Memory.
	Loader fleet.Loader
	Memory *Memory
	// Registrations reads ClusterManagementAddOns from the API server.
	Registrations client.Reader
	undeclared    undeclared
	stuck         stuck
	opening       opening
	// Concurrency is how many add-ons are evaluated and written at the same time.
	Concurrency int
	// Guarded knows whether the guard is in force; nil: there is none.
	Guarded *Guarded
	// Evaluate triggers this controller.
	Evaluate *trigger.Trigger
	// FirstPass gets each add-on that exists at the start, and each that has been evaluated; nil: nothing waits for that.
	FirstPass *firstpass.Pass
	// Evaluated is called with each add-on once it has been evaluated, and
	// its condition written; nil: nothing needs to know.
	Evaluated func(addOn types.NamespacedName)
	// Found is called with what was found of each add-on, and with nothing once it is deleted; nil: nothing needs to know.
	Found func(addOn types.NamespacedName, declared *evaluation.Evaluator, findings []evaluation.Finding)
}

// Reconcile evaluates the add-on of the key and writes Degraded if it changed.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	declared, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if r.Evaluated != nil {
		defer r.Evaluated(key)
	}
	started := r.Clock.Now()
	found, err := r.evaluate(ctx, declared, key, started)
	if err != nil {
		r.FirstPass.Failed(key)
		return reconcile.Result{}, err
	}
	r.FirstPass.Assessed(key)
	addOn := found.addOn
	if addOn == nil {
		return reconcile.Result{}, nil
	}
	found.known = r.Metrics.SetFindings(key, found.findings)
	r.Metrics.SetBlockers(key, protection.BlockersOf(found.findings, found.state.Cluster))
	desired, changed := condition.Decide(fleet.Degraded(addOn), found.findings, metav1.NewTime(started))
	r.Metrics.Evaluated(r.Clock.Since(started))
	awaited, err := r.awaited(ctx, declared, addOn, found.state, found.findings)
	if err != nil {
		return reconcile.Result{}, err
	}
	again := controllers.Sooner(evaluation.HeldUntil(found.findings), r.observeStuck(addOn, awaited, changed, started))
	closed := fleet.GateClosed(addOn)
	if until := r.opening.until(key, changed && gate.OpensFirst(closed, fleet.Installable(addOn), desired), started); started.Before(until) {
		return controllers.At(until, started), nil
	}
	onlyMessage := changed && gate.OnlyMessage(closed, fleet.Degraded(addOn), desired)
	switch turn := r.Messages.MayWrite(key, names.AddonManager, onlyMessage, r.Backoff.Last(key)); {
	case changed && turn:
		return r.change(ctx, found, desired)
	case r.Guarded.missed(addOn):
		return r.write(ctx, addOn, *fleet.Degraded(addOn))
	}
	return controllers.At(again, r.Clock.Now()), nil
}

// evaluate loads the state of an add-on, and evaluates it. Without an add-on, it drops what is remembered of it.
func (r *Reconciler) evaluate(
	ctx context.Context, declared *evaluation.Evaluator, key types.NamespacedName, now time.Time,
) (evaluated, error) {
	addOn, err := r.Fleet.AddOn(ctx, key)
	if err != nil {
		return evaluated{}, err
	}
	if addOn == nil {
		r.forget(key)
		return evaluated{}, nil
	}
	state, err := r.Loader.Load(ctx, declared, key, now)
	if err != nil {
		return evaluated{}, err
	}
	found := evaluated{addOn: addOn, declared: declared, state: state, findings: declared.Evaluate(key.Name, state), at: now}
	if r.Found != nil {
		r.Found(key, declared, found.findings)
	}
	return found, nil
}

// evaluated is what was found of an add-on; without an add-on, it does not exist.
type evaluated struct {
	addOn    *addonv1alpha1.ManagedClusterAddOn
	declared *evaluation.Evaluator
	state    evaluation.State
	findings []evaluation.Finding
	at       time.Time
	// known: findings on the same edges were known before.
	known bool
}

// change writes Degraded, unless what is declared has to be confirmed first, or another writer has just overwritten it.
func (r *Reconciler) change(ctx context.Context, found evaluated, desired metav1.Condition) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(found.addOn)
	if len(found.findings) == 0 {
		variant := found.declared.Variant(key.Name, found.state)
		switch confirmed, err := r.undeclared.confirm(ctx, r.Registrations, key.Name, variant, found.at); {
		case err != nil:
			return reconcile.Result{}, err
		case !confirmed:
			return controllers.AfterConflict, nil
		}
	}
	if wait := r.Backoff.Wait(key, condition.WithoutForeign(desired)); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	repeats := r.Backoff.Repeats(key, condition.WithoutForeign(desired)) // to another writer, not to a dependency
	result, err := r.write(ctx, found.addOn, desired)
	if err == nil && result.IsZero() && found.known && !repeats {
		r.Metrics.Reacted(condition.ReactionTo(fleet.Degraded(found.addOn), desired, found.findings, found.state.AddOns, r.Clock.Now()))
	}
	return result, err
}

// forget drops what is remembered of an add-on that was deleted.
func (r *Reconciler) forget(addOn types.NamespacedName) {
	if r.Found != nil {
		r.Found(addOn, nil, nil)
	}
	r.Metrics.Forget(addOn)
	r.Backoff.Forget(addOn)
	r.Messages.Forget(addOn)
	r.stuck.forget(addOn)
	r.opening.until(addOn, false, time.Time{})
}

// write applies the condition and emits an event on it. One that is stored already is
// written so that the guard corrects Available.
func (r *Reconciler) write(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, desired metav1.Condition) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(addOn)
	switch _, err := r.Writer.Apply(ctx, names.AddonManager, addOn, desired); {
	case apierrors.IsConflict(err):
		r.Metrics.Wrote(addOn.Name, desired.Reason, metrics.WriteConflict)
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err):
		// Deleted since it was read; its own event cleans up.
		return reconcile.Result{}, nil
	case err != nil:
		r.Metrics.Wrote(addOn.Name, desired.Reason, metrics.WriteError)
		return reconcile.Result{}, fmt.Errorf("write Degraded=%s/%s of %s: %w", desired.Status, desired.Reason, key, err)
	}
	r.Metrics.Wrote(addOn.Name, desired.Reason, metrics.WriteSuccess)
	if stored := fleet.Degraded(addOn); stored != nil && *stored == desired {
		log.FromContext(ctx).Info("Degraded written again, so that the guard corrects Available")
		return reconcile.Result{RequeueAfter: guardedAgain}, nil
	}
	log.FromContext(ctx).Info("Degraded changed", "status", desired.Status, "reason", desired.Reason, "message", desired.Message)
	if r.Backoff.Wrote(key, condition.WithoutForeign(desired)) {
		r.Metrics.Contested(addOn.Name)
		r.emitContested(addOn)
		return reconcile.Result{}, nil
	}
	r.emitTransition(addOn, desired)
	return reconcile.Result{}, nil
}
