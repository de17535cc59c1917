// Package bundles keeps the condition Available of bundles in line with what they require: add-ons without an agent, so that
// no other component can know it.
package bundles

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/bundle"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/acting"
	"open-cluster-management.io/interlock/pkg/names"
)

// Reconciler decides on Available of one bundle on one managed cluster.
type Reconciler struct{ acting.AddOns }

// SetupWithManager registers the controller. It begins with every bundle.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.Setup(mgr, "bundles", r, r.concerns)
}

// Evaluated enqueues an add-on that has been evaluated, if it is a bundle, or was one.
func (r *Reconciler) Evaluated(addOn types.NamespacedName) { r.EnqueueIf(r.concerns, addOn) }

// concerns reports whether the add-on is a bundle, or was one. Before the first catalog it is not known; the first
// evaluation enqueues it then.
func (r *Reconciler) concerns(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	declared := r.Declarations.Current()
	return bundle.Owned(fleet.Available(addOn)) || declared != nil && declared.Install(addOn.Name).Bundle
}

// Reconcile writes Available where it differs from what the bundle requires.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	addOn, declared, err := r.Read(ctx, key)
	if err != nil || addOn == nil {
		return reconcile.Result{}, err
	}
	is := declared.Install(key.Name).Bundle
	if !is && !bundle.Owned(fleet.Available(addOn)) {
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
	return r.Write(ctx, addOn, acting.Condition{Condition: decision.Condition, Owner: names.Bundle, Mode: decision.Mode, Kind: "bundle"})
}
