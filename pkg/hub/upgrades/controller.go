// Package upgrades lets AddOnTemplates be rolled out that wait for their dependencies on a managed cluster, and marks the add-ons
// whose other templates will wait, by the condition Upgradable.
package upgrades

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Reconciler decides on Upgradable of one add-on on one managed cluster.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Loader       fleet.Loader
	Conditions   condition.Writer
	// Live reads add-ons and registrations from the API server.
	Live    client.Reader
	Backoff *backoff.Tracker
	// Evaluate triggers this controller.
	Evaluate *trigger.Trigger
}

// Reconcile writes Upgradable where it is due. OCM rolls the template out after that write, because the add-on has changed.
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
	if addOn == nil || !addOn.DeletionTimestamp.IsZero() {
		r.Backoff.Forget(key)
		return reconcile.Result{}, nil
	}
	now := r.Clock.Now()
	decision, err := r.decide(ctx, declared, addOn)
	if err != nil {
		return reconcile.Result{}, err
	}
	desired, changed := gate.UpgradeCondition(fleet.Upgradable(addOn), decision, metav1.NewTime(now))
	if !changed {
		return reconcile.Result{}, nil
	}
	if wait := r.Backoff.Wait(key, desired); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.write(ctx, addOn, desired)
}

// decide decides on the template that waits. Where none does, and others will have to, the add-on is marked once.
func (r *Reconciler) decide(
	ctx context.Context,
	declared *evaluation.Evaluator,
	addOn *addonv1alpha1.ManagedClusterAddOn,
) (gate.Decision, error) {
	registered, waiting := declared.Declaration(addOn.Name), fleet.WaitingTemplate(addOn)
	if waiting == "" {
		if toMark(declared, addOn) {
			return gate.NothingWaits, nil
		}
		return gate.Decision{}, nil
	}
	version, read, err := r.Loader.Reader.TemplateVersion(ctx, waiting)
	if err != nil || !read {
		return gate.Decision{}, err
	}
	upgrade := gate.Upgrade{Template: waiting, Version: version}
	if templates := fleet.TemplatesOf(addOn); templates.RollingOut == waiting || templates.Running == waiting && templates.RollingOut == "" {
		return upgrade.Opened(), nil
	}
	switch wanted, err := r.wanted(ctx, declared, addOn, waiting); {
	case err != nil:
		return gate.Decision{}, err
	case !wanted:
		return upgrade.Dropped(), nil
	}
	state, err := r.Loader.Load(ctx, declared, client.ObjectKeyFromObject(addOn), r.Clock.Now())
	if err != nil {
		return gate.Decision{}, err
	}
	decision := gate.DecideUpgrade(registered, declared.Evaluate(addOn.Name, gate.Upgrading(state, addOn.Name, upgrade)), upgrade)
	if decision.Step == gate.Open {
		// One that is rolled out too early cannot be taken back.
		switch current, err := declarations.CurrentTemplate(ctx, r.Live, declared, waiting); {
		case err != nil:
			return gate.Decision{}, err
		case !current:
			return gate.Decision{}, nil // the catalog that follows triggers another decision
		}
	}
	return decision, nil
}

// wanted reports whether the template may still be rolled out there: by the add-on itself, or else by its registration. Different watches
// fill the caches of registrations and of add-ons, so what the catalog does not have is read from the API server.
func (r *Reconciler) wanted(
	ctx context.Context,
	declared *evaluation.Evaluator,
	addOn *addonv1alpha1.ManagedClusterAddOn,
	template string,
) (bool, error) {
	live := &addonv1alpha1.ManagedClusterAddOn{} // the cache has no spec
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(addOn), live); err != nil {
		return true, client.IgnoreNotFound(err)
	}
	if own := fleet.OwnTemplate(live); own != "" {
		return own == template, nil
	}
	if slices.Contains(declared.Install(addOn.Name).Templates, template) {
		return true, nil
	}
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	if err := r.Live.Get(ctx, client.ObjectKey{Name: addOn.Name}, registered); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return slices.Contains(declaration.NamedTemplates(registered), template), nil
}

// toMark reports whether other templates of an add-on will have to wait, and it has no condition that says so. Before it is installed,
// its gate decides.
func toMark(declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return fleet.Upgradable(addOn) == nil && gate.OrdersUpgrades(declared.Declaration(addOn.Name)) && fleet.TemplatesOf(addOn).Running != ""
}

func (r *Reconciler) write(
	ctx context.Context,
	addOn *addonv1alpha1.ManagedClusterAddOn,
	desired metav1.Condition,
) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(addOn)
	switch err := r.Conditions.Apply(ctx, names.Upgrade, addOn, desired); {
	case apierrors.IsConflict(err):
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("write Upgradable=%s/%s of %s: %w", desired.Status, desired.Reason, key, err)
	}
	r.Backoff.Wrote(key, desired)
	log.FromContext(ctx).Info("Upgradable changed", "status", desired.Status, "reason", desired.Reason, "message", desired.Message)
	return reconcile.Result{}, nil
}

// Evaluated enqueues an add-on that has been evaluated, if an AddOnTemplate waits there, or will.
func (r *Reconciler) Evaluated(addOn types.NamespacedName) {
	found, err := r.Fleet.AddOn(context.Background(), addOn) // of the cache
	if err == nil && found != nil && r.concerns(found) {
		r.Evaluate.Enqueue(addOn)
	}
}

// concerns reports whether there is anything to decide. Before the first catalog it is not known; the first evaluation enqueues the
// add-on then.
func (r *Reconciler) concerns(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	declared := r.Declarations.Current()
	return fleet.WaitingTemplate(addOn) != "" || declared != nil && toMark(declared, addOn)
}
