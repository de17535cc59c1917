package declarations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/interlock/pkg/announce"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

// Reconciler rebuilds the catalog from all registered add-ons. It has a single
// key: however many change at once, the catalog is rebuilt once, and whoever
// it concerns is woken once.
type Reconciler struct {
	Fleet fleet.Reader
	// Prepared is closed once the fleet can be read; nil: it can.
	Prepared <-chan struct{}
	Store    *Store
	Metrics  *metrics.Metrics
	Recorder events.EventRecorder
	// Wake has the add-ons of these keys evaluated anew.
	Wake func(ctx context.Context, keys []types.NamespacedName) error
	// WakeFirst reports for which add-ons of the first catalog to wake anybody;
	// nil: for all of them. Whoever evaluates add-ons begins with all there are.
	WakeFirst func(catalog *evaluation.Evaluator, addOn string) bool
	// Reread gets an event when all add-ons were read again, without events of
	// their own; nil: they never are.
	Reread <-chan event.GenericEvent
	// Hidden reports whether declarations by field cannot be read just now; it
	// is followed by an event of Reread. nil: they always can.
	Hidden func() bool

	// told is the last catalog that everybody concerned was woken for.
	told *evaluation.Evaluator
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	c, err := controller.New("declarations", mgr, controller.Options{Reconciler: r})
	if err != nil {
		return fmt.Errorf("create declarations controller: %w", err)
	}
	// Without any registered add-on no event would ever come, and whoever
	// waits for the first catalog would wait for ever.
	if err := c.Watch(source.Func(enqueueOnce)); err != nil {
		return fmt.Errorf("start declarations controller: %w", err)
	}
	if r.Reread != nil {
		if err := c.Watch(source.Channel(r.Reread, enqueueCatalog())); err != nil {
			return fmt.Errorf("watch for add-ons that are read again: %w", err)
		}
	}
	addOns := source.Kind(mgr.GetCache(), &addonv1alpha1.ClusterManagementAddOn{}, catalogHandler(), declarationChanged())
	if err := c.Watch(addOns); err != nil {
		return fmt.Errorf("watch registered add-ons: %w", err)
	}
	return nil
}

// Reconcile builds the catalog, publishes it, and wakes whom it concerns.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if err := r.awaitFleet(ctx); err != nil {
		return reconcile.Result{}, err
	}
	addOns, err := r.Fleet.AddOns(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	before := r.told
	if before == nil {
		before = evaluation.New(catalog.New(nil))
	}
	renewed := before.Renew(addOns)
	if r.Hidden != nil && r.Hidden() {
		renewed = renewed.WithoutFields()
	}
	catalog := evaluation.New(renewed)
	r.Metrics.Registered(catalog.AddOns())
	r.Store.Set(catalog)
	changed := catalog.Changed(before.Catalog)
	for _, addOn := range changed {
		if r.told == nil && r.WakeFirst != nil && !r.WakeFirst(catalog, addOn) {
			continue
		}
		keys, err := r.Fleet.Installed(ctx, addOn)
		if err != nil {
			return reconcile.Result{}, err
		}
		if err := r.Wake(ctx, keys); err != nil {
			return reconcile.Result{}, err
		}
	}
	r.tellProblems(addOns, before, catalog)
	r.told = catalog
	log.FromContext(ctx).V(1).Info("Rebuilt the catalog of declared dependencies", "addOns", len(addOns), "changed", changed)
	return reconcile.Result{}, nil
}

func (r *Reconciler) awaitFleet(ctx context.Context) error {
	if r.Prepared == nil {
		return nil
	}
	select {
	case <-r.Prepared:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the fleet: %w", ctx.Err())
	}
}

// tellProblems reports what is newly wrong as events, and all that is wrong as metrics.
func (r *Reconciler) tellProblems(addOns []addonv1alpha1.ClusterManagementAddOn, before, now *evaluation.Evaluator) {
	for i := range addOns {
		addOn := &addOns[i]
		known, problems := before.Problems(addOn.Name), now.Problems(addOn.Name)
		r.Metrics.Declared(addOn.Name, problems)
		for _, reason := range declaration.ProblemReasons {
			if news := messages(problems, known, reason); len(news) > 0 {
				r.Recorder.Eventf(announce.About(announce.ClusterManagementAddOn, addOn), nil, corev1.EventTypeWarning,
					string(reason), "CheckDependencies", "%s", announce.Note(strings.Join(news, "; ")))
			}
		}
	}
}

// messages are those of all problems of one kind that were not known before:
// one event tells of them, however many there are.
func messages(problems, known []declaration.Problem, reason declaration.ProblemReason) []string {
	var news []string
	for _, problem := range problems {
		if problem.Reason == reason && !slices.Contains(known, problem) {
			news = append(news, problem.Message)
		}
	}
	return news
}
