// Package bundles keeps the condition Available of bundles in line with what they require: add-ons without an agent, so that
// no other component can know it.
package bundles

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/bundle"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// workers is how many bundles are decided on at a time.
const workers = 4

// Reconciler decides on Available of one bundle on one managed cluster.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Loader       fleet.Loader
	Conditions   condition.Writer
	Backoff      *backoff.Tracker
	// Evaluate triggers this controller.
	Evaluate *trigger.Trigger
}

// Reconcile writes Available where it differs from what the bundle requires.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	declared, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	addOn, err := r.Fleet.AddOn(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	is := declared.Install(key.Name).Bundle
	if addOn == nil || !addOn.DeletionTimestamp.IsZero() || !is && !bundle.Owned(fleet.Available(addOn)) {
		r.Backoff.Forget(key)
		return reconcile.Result{}, nil
	}
	now := r.Clock.Now()
	state, err := r.Loader.Load(ctx, declared, key, now)
	if err != nil {
		return reconcile.Result{}, err
	}
	decision := bundle.Decide(bundle.Input{
		Bundle: is, Lost: state.Cluster.Available == metav1.ConditionUnknown, Findings: declared.Evaluate(key.Name, state),
		Stored: fleet.Available(addOn), Degraded: fleet.Degraded(addOn), Now: metav1.NewTime(now),
	})
	if !decision.Write {
		return reconcile.Result{}, nil
	}
	if wait := r.Backoff.Wait(key, decision.Condition); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.write(ctx, addOn, decision)
}

func (r *Reconciler) write(
	ctx context.Context,
	addOn *addonv1alpha1.ManagedClusterAddOn,
	decision bundle.Decision,
) (reconcile.Result, error) {
	key, desired := client.ObjectKeyFromObject(addOn), decision.Condition
	switch err := r.Conditions.ApplyChecked(ctx, names.Bundle, addOn, desired, decision.Mode); {
	case apierrors.IsConflict(err):
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("write Available=%s/%s of bundle %s: %w", desired.Status, desired.Reason, key, err)
	}
	r.Backoff.Wrote(key, desired)
	log.FromContext(ctx).Info("Available of a bundle changed", "status", desired.Status, "reason", desired.Reason, "message", desired.Message)
	return reconcile.Result{}, nil
}

type (
	queue        = trigger.Queue
	installed    = *addonv1alpha1.ManagedClusterAddOn
	addOnHandler = handler.TypedFuncs[installed, reconcile.Request]
)

// SetupWithManager registers the controller. It begins with every bundle.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "bundles", r, workers, controllers.RetryOnHub,
		r.Evaluate.Source(), source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()))
}

// addOns: a bundle is decided on when it changes itself. Its evaluation enqueues it for everything else.
func (r *Reconciler) addOns() addOnHandler {
	enqueue := func(addOn installed, q queue) {
		if r.concerns(addOn) {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(addOn)})
		}
	}
	return addOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[installed], q queue) { enqueue(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[installed], q queue) { enqueue(e.ObjectNew, q) },
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[installed], q queue) { enqueue(e.Object, q) },
	}
}

// concerns reports whether the add-on is a bundle, or was one. Before the first catalog it is not known; the first
// evaluation enqueues it then.
func (r *Reconciler) concerns(addOn installed) bool {
	declared := r.Declarations.Current()
	return bundle.Owned(fleet.Available(addOn)) || declared != nil && declared.Install(addOn.Name).Bundle
}

// Evaluated enqueues an add-on that has been evaluated, if it is a bundle, or was one.
func (r *Reconciler) Evaluated(addOn types.NamespacedName) {
	found, err := r.Fleet.AddOn(context.Background(), addOn) // of the cache
	if err == nil && found != nil && r.concerns(found) {
		r.Evaluate.Enqueue(addOn)
	}
}
