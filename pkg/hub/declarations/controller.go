package declarations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Reconciler builds the catalog from all registered add-ons. It has a single key, so many
// changes of registrations at the same time lead to one new catalog.
type Reconciler struct {
	// Registrations reads the registered add-ons.
	Registrations fleet.Objects
	Fleet         hubcache.Reader
	// Templates reads the AddOnTemplates.
	Templates func(context.Context) (catalog.Templates, error)
	// Placements reads the Placements.
	Placements func(context.Context) (catalog.Placements, error)
	// Policies reads the AddOnDependencyPolicies. It is nil if there are none.
	Policies func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error)
	// Published is called after a catalog was published, so that other controllers follow it. It may be nil.
	Published func()
	// Declare triggers this controller.
	Declare *trigger.Trigger
	// Readable is closed once the caches begin to read, because policies are read from one. It is nil if they have begun. The first catalog
	// does not wait until the caches are complete.
	Readable <-chan struct{}
	Store    *Store
	Metrics  *metrics.Metrics
	Recorder events.EventRecorder

	// Evaluate triggers the evaluation of add-ons.
	Evaluate *trigger.Trigger
	// Request triggers the controller that requests facts from managed clusters.
	Request *trigger.Trigger
	// EnableWatches enables the watches of the inputs that a declaration uses.
	EnableWatches func(used func(input.Set) bool)

	// published is the last catalog whose changes were enqueued. It is nil before the first catalog.
	published *evaluation.Evaluator
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "declarations", r, 1, controllers.RetryOnHub,
		// This source adds the first key, because a hub without registered add-ons has no event.
		r.Declare.Source(Key),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ClusterManagementAddOn{}, catalogHandler(), declarationChanged()))
}

// Reconcile builds the catalog, publishes it, and enqueues the add-ons whose
// verdicts can change with it.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if err := r.awaitFleet(ctx); err != nil {
		return reconcile.Result{}, err
	}
	addOns, err := r.Registrations.AddOns(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	templates, err := r.Templates(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	placements, err := r.Placements(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	policies, err := r.policies(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	previous := r.published
	if previous == nil {
		previous = evaluation.New(catalog.New(nil))
	}
	evaluator := evaluation.New(previous.Renew(addOns, templates).WithPolicies(policies).Consented(placements))
	r.Metrics.SetAddOns(evaluator.AddOns())
	r.Store.Set(evaluator)
	r.EnableWatches(inputsUsedBy(evaluator))
	changed := evaluator.Changed(previous.Catalog)
	// After the first catalog, the other controllers process all their objects anyway.
	if r.published != nil {
		if err := errors.Join(r.enqueue(ctx, changed), r.enqueueTemplated(ctx, previous, evaluator), r.enqueueProviders(ctx, previous, evaluator),
			r.enqueueReworded(ctx, previous, evaluator)); err != nil {
			return reconcile.Result{}, err
		}
	}
	r.reportProblems(addOns, templates.Items, previous, evaluator)
	r.published = evaluator
	if r.Published != nil {
		r.Published()
	}
	log.FromContext(ctx).V(1).Info("Rebuilt the catalog of declared dependencies", "addOns", len(addOns), "changed", changed)
	return reconcile.Result{}, nil
}

func (r *Reconciler) policies(ctx context.Context) (policy.Set, error) {
	if r.Policies == nil {
		return policy.Set{}, nil
	}
	items, err := r.Policies(ctx)
	return policy.Read(items), err
}

// inputsUsedBy returns a function that reports whether a declaration uses an input. AddOnTemplates
// are read for versions, and for their own declarations.
func inputsUsedBy(evaluator *evaluation.Evaluator) func(input.Set) bool {
	return func(inputs input.Set) bool {
		switch inputs {
		case input.Policies:
			return true
		case input.Versions:
			return evaluator.ReadsTemplates()
		case input.Consents:
			return slices.ContainsFunc(evaluator.AddOns(), func(addOn string) bool {
				return slices.ContainsFunc(evaluator.Needs(addOn), func(need evaluation.Need) bool { return need.Inputs.Any(input.Consents) })
			})
		case input.Config:
			return evaluator.AnyInput(input.Variables)
		default:
			return evaluator.AnyInput(inputs)
		}
	}
}

func (r *Reconciler) awaitFleet(ctx context.Context) error {
	if r.Readable == nil {
		return nil
	}
	select {
	case <-r.Readable:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the fleet: %w", ctx.Err())
	}
}

// enqueue enqueues the add-ons on all clusters, and the clusters.
func (r *Reconciler) enqueue(ctx context.Context, addOns []string) error {
	for _, addOn := range addOns {
		keys, err := r.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		r.Evaluate.Enqueue(keys...)
		if err := r.enqueueClusters(ctx, addOn, keys); err != nil {
			return err
		}
	}
	return nil
}

// enqueueClusters enqueues the clusters where an add-on is installed, and the clusters that run its agents.
func (r *Reconciler) enqueueClusters(ctx context.Context, addOn string, keys []types.NamespacedName) error {
	for _, key := range keys {
		r.Request.Enqueue(types.NamespacedName{Name: key.Namespace})
	}
	hosts, err := r.Fleet.Hosts(ctx, addOn)
	for _, host := range hosts {
		r.Request.Enqueue(types.NamespacedName{Name: host})
	}
	return err
}

// RewordAfter is the delay before add-ons are evaluated again if only the messages of their
// verdicts can have changed. The verdicts often change within seconds too, for example after
// a registration that lets OCM install an add-on. The delay saves a write then.
const RewordAfter = 10 * time.Second

// enqueueReworded enqueues the add-ons with a dependency whose registration, or way of
// installation, has changed.
func (r *Reconciler) enqueueReworded(ctx context.Context, previous, current *evaluation.Evaluator) error {
	for _, addOn := range current.Reworded(previous.Catalog) {
		keys, err := r.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		r.Evaluate.EnqueueAfter(RewordAfter, keys...)
	}
	return nil
}

// enqueueTemplated enqueues the add-ons that run, roll out or wait for an AddOnTemplate whose
// declaration has changed. It also enqueues the clusters whose facts the template needs.
func (r *Reconciler) enqueueTemplated(ctx context.Context, previous, current *evaluation.Evaluator) error {
	for _, template := range current.ChangedTemplates(previous.Catalog) {
		running, err := r.Fleet.Templated(ctx, template)
		if err != nil {
			return err
		}
		previousAddOn, _, _ := previous.Template(template)
		currentAddOn, _, _ := current.Template(template)
		for _, key := range running {
			if key.Name == previousAddOn || key.Name == currentAddOn {
				r.Evaluate.Enqueue(key)
			}
		}
		for _, addOn := range slices.Compact([]string{previousAddOn, currentAddOn}) {
			if err := r.requestFacts(ctx, addOn, previous, current); err != nil {
				return err
			}
		}
	}
	return nil
}

// enqueueProviders enqueues the clusters of add-ons whose requests to agents change. These are add-ons whose provided kinds
// have changed, because agents count their objects, and add-ons whose version begins or ceases to be compared.
func (r *Reconciler) enqueueProviders(ctx context.Context, previous, current *evaluation.Evaluator) error {
	for _, addOn := range current.AddOns() {
		if slices.Equal(previous.Provided(addOn), current.Provided(addOn)) && previous.Compared(addOn) == current.Compared(addOn) {
			continue
		}
		keys, err := r.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		if err := r.enqueueClusters(ctx, addOn, keys); err != nil {
			return err
		}
	}
	return nil
}

// requestFacts enqueues the clusters of an add-on whose needed facts have changed.
func (r *Reconciler) requestFacts(ctx context.Context, addOn string, previous, current *evaluation.Evaluator) error {
	if equality.Semantic.DeepEqual(previous.Requests(addOn), current.Requests(addOn)) {
		return nil
	}
	keys, err := r.Fleet.Installed(ctx, addOn)
	if err != nil {
		return err
	}
	return r.enqueueClusters(ctx, addOn, keys)
}
