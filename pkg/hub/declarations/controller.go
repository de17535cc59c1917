package declarations

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Watch is a watch of objects that only some declarations need.
type Watch interface {
	// Enable lets the watch begin.
	Enable()
}

// Reconciler builds the catalog from all registered add-ons. It has a single key:
// however many registrations change at once, it builds the catalog once.
type Reconciler struct {
	// Registered reads the registered add-ons.
	Registered fleet.Objects
	Fleet      hubcache.Reader
	// Indexed is closed once the fleet can be read; nil: it can.
	Indexed  <-chan struct{}
	Store    *Store
	Metrics  *metrics.Metrics
	Recorder events.EventRecorder

	// Evaluate triggers the evaluation of add-ons.
	Evaluate *trigger.Trigger
	// Request triggers the controller that requests facts of managed clusters.
	Request *trigger.Trigger
	// Watches are enabled once a declaration uses their objects.
	Watches map[input.Set]Watch

	// published is the last catalog whose changes were enqueued; nil: none yet.
	published *evaluation.Evaluator
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	c, err := controller.New("declarations", mgr, controller.Options{Reconciler: r})
	if err != nil {
		return fmt.Errorf("create declarations controller: %w", err)
	}
	for _, s := range []source.Source{
		// The first key comes from here: a hub without registered add-ons has no event.
		trigger.New().Source(Key),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ClusterManagementAddOn{}, catalogHandler(), declarationChanged()),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for declarations controller: %w", err)
		}
	}
	return nil
}

// Reconcile builds the catalog, publishes it, and enqueues the add-ons whose
// verdicts can change with it.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if err := r.awaitFleet(ctx); err != nil {
		return reconcile.Result{}, err
	}
	addOns, err := r.Registered.AddOns(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	before := r.published
	if before == nil {
		before = evaluation.New(catalog.New(nil))
	}
	declared := evaluation.New(before.Renew(addOns))
	r.Metrics.Registered(declared.AddOns())
	r.Store.Set(declared)
	r.enableWatches(declared)
	changed := declared.Changed(before.Catalog)
	// The other controllers begin with everything once there is a first catalog.
	if r.published != nil {
		if err := r.enqueue(ctx, changed); err != nil {
			return reconcile.Result{}, err
		}
	}
	r.reportProblems(addOns, before, declared)
	r.published = declared
	log.FromContext(ctx).V(1).Info("Rebuilt the catalog of declared dependencies", "addOns", len(addOns), "changed", changed)
	return reconcile.Result{}, nil
}

func (r *Reconciler) awaitFleet(ctx context.Context) error {
	if r.Indexed == nil {
		return nil
	}
	select {
	case <-r.Indexed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the fleet: %w", ctx.Err())
	}
}

func (r *Reconciler) enableWatches(declared *evaluation.Evaluator) {
	for uses, watch := range r.Watches {
		if declared.AnyInput(uses) {
			watch.Enable()
		}
	}
}

// enqueue enqueues the named add-ons on all clusters, and these clusters.
func (r *Reconciler) enqueue(ctx context.Context, addOns []string) error {
	for _, addOn := range addOns {
		installed, err := r.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		r.Evaluate.Enqueue(installed...)
		for _, key := range installed {
			r.Request.Enqueue(types.NamespacedName{Name: key.Namespace})
		}
	}
	return nil
}
