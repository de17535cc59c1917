// Package status writes all conditions of Interlock on every add-on on every managed cluster, and opens gates.
package status

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	conditionwriter "open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/status"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Reconciler assesses one add-on on one managed cluster, decides, and applies what differs.
type Reconciler struct {
	Clock        clock.PassiveClock
	Declarations *declarations.Store
	Assessor     assess.Assessor
	// Memory is that of the Assessor's loader.
	Memory *assess.Memory
	// Store gets each assessment. Others subscribe to it.
	Store *assess.Store
	// Client opens gates, and Live reads what is declared at this moment from the API server.
	Client  client.Client
	Live    client.Reader
	Writer  conditionwriter.Writer
	Backoff *backoff.Tracker
	// Messages are the turns of add-ons whose conditions change only their messages while the gate is closed.
	Messages *backoff.Turns
	Metrics  *metrics.Metrics
	Recorder events.EventRecorder
	// EventLimiter limits events on transitions; nil: all are emitted.
	EventLimiter flowcontrol.PassiveRateLimiter
	// Concurrency is how many add-ons are assessed and written at the same time.
	Concurrency int
	// Guarded knows whether the guard is in force; nil: there is none.
	Guarded *Guarded
	// Evaluate triggers this controller.
	Evaluate *trigger.Trigger
	// FirstPass gets each add-on that exists at the start, and each that has been assessed; nil: nothing waits for that.
	FirstPass *firstpass.Pass

	undeclared    undeclared
	stuck         stuck
	contradicting contradicting
}

// Reconcile assesses the add-on of the key, and writes what differs from the decision: first the conditions, and then the gate. So a
// process that stops between the two leaves nothing behind that the next one does not finish.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	declared, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	is, err := r.assess(ctx, declared, request.NamespacedName)
	if err != nil {
		r.FirstPass.Failed(request.NamespacedName)
		return reconcile.Result{}, err
	}
	r.FirstPass.Assessed(request.NamespacedName)
	if is == nil {
		return reconcile.Result{}, nil
	}
	decision := status.Decide(is.found, is.stored, metav1.NewTime(is.at))
	r.Metrics.Evaluated(r.Clock.Since(is.at))
	again := controllers.Sooner(is.found.Until, r.observeStuck(is, decision))
	decision, postponed := decision.Postpone(func(one metav1.Condition) time.Time { return r.notBefore(is, one) })
	turn := r.Messages.MayWrite(is.key, decision.OnlyMessages(is.stored), r.Backoff.Last(is.key))
	switch {
	case !decision.Empty() && turn:
		return r.change(ctx, is, decision)
	case r.Guarded.missed(is.addOn):
		return r.writeForGuard(ctx, is, decision)
	}
	return controllers.At(controllers.Sooner(again, postponed), r.Clock.Now()), nil
}

// assessed is an add-on with what was found of it.
type assessed struct {
	key      types.NamespacedName
	addOn    *addonv1alpha1.ManagedClusterAddOn
	declared *evaluation.Evaluator
	state    evaluation.State
	found    status.Assessment
	stored   status.Stored
	at       time.Time
	// known: findings on the same edges were known before.
	known bool
}

// assess assesses an add-on, and stores that. nil: the add-on does not exist, and what is remembered of it is dropped.
func (r *Reconciler) assess(ctx context.Context, declared *evaluation.Evaluator, key types.NamespacedName) (*assessed, error) {
	addOn, err := r.Assessor.Fleet.AddOn(ctx, key)
	if err != nil {
		return nil, err
	}
	if addOn == nil {
		r.forget(key)
		return nil, nil
	}
	is := &assessed{key: key, addOn: addOn, declared: declared, stored: fleet.Stored(addOn), at: r.Clock.Now()}
	if is.found, is.state, err = r.Assessor.Assess(ctx, declared, addOn, is.at); err != nil {
		return nil, err
	}
	r.contradicting.set(key, r.Assessor.Acts && fleet.HeldForContradiction(addOn))
	change := r.Store.Set(key, declared, is.found)
	is.known = status.SameEdges(change.Before, change.After)
	return is, nil
}

// review enqueues the add-ons on the managed cluster that contradict installed add-ons, where something else was found of another one: that may
// be the one that they contradict.
func (r *Reconciler) review(change assess.Change) {
	if !r.contradicting.any() || !change.Differs() {
		return
	}
	for _, one := range r.contradicting.on(change.AddOn.Namespace) {
		if one != change.AddOn {
			r.Evaluate.Enqueue(one)
		}
	}
}

// forget drops what is remembered of an add-on that was deleted.
func (r *Reconciler) forget(addOn types.NamespacedName) {
	r.Backoff.Forget(addOn)
	r.Messages.Forget(addOn)
	r.stuck.forget(addOn)
	r.contradicting.set(addOn, false)
	r.Store.Delete(addOn)
}

// notBefore is when a condition may be written that another writer has just overwritten; zero: now.
func (r *Reconciler) notBefore(is *assessed, desired metav1.Condition) time.Time {
	if wait := r.Backoff.Wait(is.key, condition.WithoutForeign(desired)); wait > 0 {
		return is.at.Add(wait)
	}
	return time.Time{}
}
