// Package upgrades lets AddOnTemplates be rolled out that wait for their dependencies on a managed cluster, and marks the add-ons
// whose other templates will wait, by the condition Upgradable.
package upgrades

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/acting"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/names"
)

// Reconciler decides on Upgradable of one add-on on one managed cluster.
type Reconciler struct {
	acting.AddOns
	// Live reads add-ons and registrations from the API server.
	Live client.Reader
}

// missingAgain is when a template that does not exist is looked for again. Its creation brings the add-on back sooner where it declares
// something.
const missingAgain = 10 * time.Second

// SetupWithManager registers the controller. It begins with every add-on where an AddOnTemplate waits.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.Setup(mgr, "upgrades", r, r.concerns)
}

// Evaluated enqueues an add-on that has been evaluated, if an AddOnTemplate waits there, or will.
func (r *Reconciler) Evaluated(addOn types.NamespacedName) { r.EnqueueIf(r.concerns, addOn) }

// concerns reports whether there is anything to decide. Before the first catalog it is not known; the first evaluation enqueues the
// add-on then.
func (r *Reconciler) concerns(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	declared := r.Declarations.Current()
	return fleet.WaitingTemplate(addOn) != "" || declared != nil && toMark(declared, addOn)
}

// Reconcile writes Upgradable where it is due. OCM rolls the template out after that write, because the add-on has changed.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	addOn, declared, err := r.Read(ctx, request.NamespacedName)
	if err != nil || addOn == nil {
		return reconcile.Result{}, err
	}
	now := r.Clock.Now()
	decision, again, err := r.decide(ctx, declared, addOn)
	if err != nil {
		return reconcile.Result{}, err
	}
	desired, changed := gate.UpgradeCondition(fleet.Upgradable(addOn), decision, metav1.NewTime(now))
	if !changed {
		return controllers.At(again, now), nil
	}
	// The write brings the add-on back, and what ends by itself is decided then.
	_, result, err := r.Write(ctx, addOn, acting.Condition{Condition: desired, Owner: names.Upgrade})
	return result, err
}

// decide decides on the template that waits, and returns when to do so again without a cause; zero: never. Where none waits,
// and others will have to, the add-on is marked once.
func (r *Reconciler) decide(
	ctx context.Context,
	declared *evaluation.Evaluator,
	addOn *addonv1alpha1.ManagedClusterAddOn,
) (decision gate.Decision, again time.Time, err error) {
	waiting := fleet.WaitingTemplate(addOn)
	if waiting == "" {
		if toMark(declared, addOn) {
			return gate.NothingWaits, time.Time{}, nil
		}
		return gate.Decision{}, time.Time{}, nil
	}
	version, read, err := r.Loader.Reader.TemplateVersion(ctx, waiting)
	if err != nil || !read {
		return gate.Decision{}, time.Time{}, err
	}
	upgrade := gate.Upgrade{Template: waiting, Version: version}
	if templates := fleet.TemplatesOf(addOn); templates.RollingOut == waiting || templates.Running == waiting && templates.RollingOut == "" {
		return upgrade.Opened(), time.Time{}, nil
	}
	switch wanted, err := r.wanted(ctx, declared, addOn, waiting); {
	case err != nil:
		return gate.Decision{}, time.Time{}, err
	case !wanted:
		return upgrade.Dropped(), time.Time{}, nil
	}
	return r.decideUpgrade(ctx, declared, addOn, upgrade)
}

// decideUpgrade decides by the findings on the add-on with the template that waits.
func (r *Reconciler) decideUpgrade(
	ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn, upgrade gate.Upgrade,
) (decision gate.Decision, again time.Time, err error) {
	state, err := r.Loader.Load(ctx, declared, client.ObjectKeyFromObject(addOn), r.Clock.Now())
	if err != nil {
		return gate.Decision{}, time.Time{}, err
	}
	findings := declared.Evaluate(addOn.Name, gate.Upgrading(state, addOn.Name, upgrade))
	decision = gate.DecideUpgrade(declared.Declaration(addOn.Name), findings, upgrade)
	if decision.Step == gate.Open || upgrade.Version == "" {
		switch exists, err := declarations.TemplateExists(ctx, r.Live, upgrade.Template); {
		case err != nil:
			return gate.Decision{}, time.Time{}, err
		case !exists:
			upgrade.Missing = true
			return gate.DecideUpgrade(declared.Declaration(addOn.Name), nil, upgrade), r.Clock.Now().Add(missingAgain), nil
		}
	}
	if decision.Step == gate.Open {
		// One that is rolled out too early cannot be taken back.
		switch current, err := declarations.CurrentTemplate(ctx, r.Live, declared, upgrade.Template); {
		case err != nil:
			return gate.Decision{}, time.Time{}, err
		case !current:
			return gate.Decision{}, time.Time{}, nil // the catalog that follows triggers another decision
		}
	}
	return decision, evaluation.HeldUntil(findings), nil
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
