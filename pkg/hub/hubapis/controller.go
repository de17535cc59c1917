// Package hubapis discovers the APIs of the hub that dependencies require. It enqueues the add-ons
// whose required APIs change.
package hubapis

import (
	"context"
	"slices"
	"sync/atomic"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Key is the only key of this controller's queue. So many changes at the same time enqueue the
// add-ons only once.
var Key = types.NamespacedName{Name: "hub"}

// APIs watches groups of APIs on the hub; see apidiscovery.Watcher.
type APIs interface {
	Watch(groups map[string]apidiscovery.Fields)
	Group(name string) apidiscovery.Group
}

// Served stores the facts on the APIs of the hub. The zero value is empty. It is safe for concurrent use.
type Served struct {
	facts atomic.Pointer[evaluation.APIFacts]
}

// APIFacts returns the facts on the APIs. They are shared and must not be changed.
func (s *Served) APIFacts() evaluation.APIFacts {
	if facts := s.facts.Load(); facts != nil {
		return *facts
	}
	return nil
}

// Reconciler keeps Served current. It watches only the groups that edges require.
type Reconciler struct {
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	APIs         APIs
	Served       *Served

	// Changed triggers this controller when a catalog is published, and when the APIs of the hub change.
	Changed *trigger.Trigger
	// Evaluate triggers the evaluation of add-ons.
	Evaluate *trigger.Trigger

	// enqueued has the facts for which the add-ons were last enqueued.
	enqueued evaluation.APIFacts
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "hubapis", r, 1, controllers.RetryOnHub, r.Changed.Source(Key))
}

// Reconcile watches the APIs that edges require of the hub, and enqueues the add-ons whose APIs have changed.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	evaluator, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	requests := fleet.APIRequests(evaluator.HubAPIs())
	r.APIs.Watch(apidiscovery.Groups(requests))
	facts := r.observe(requests)
	r.Served.facts.Store(&facts)
	changed := func(api addonv1alpha1.DependencyAPI) bool {
		previousFact, hadFact := r.enqueued[api.AddonAPI]
		fact, hasFact := facts[api.AddonAPI]
		return hadFact != hasFact || !apiequality.Semantic.DeepEqual(previousFact, fact)
	}
	for _, addOn := range evaluator.WithInput(input.HubAPIs) {
		if !slices.ContainsFunc(evaluator.HubAPIs(addOn), changed) {
			continue
		}
		keys, err := r.Fleet.Installed(ctx, addOn)
		if err != nil {
			return reconcile.Result{}, err
		}
		r.Evaluate.Enqueue(keys...)
		log.FromContext(ctx).V(1).Info("What the hub serves has changed", "addOn", addOn, "clusters", len(keys))
	}
	r.enqueued = facts
	return reconcile.Result{}, nil
}

// observe returns the facts on the requested APIs. An API whose state is unknown at the moment keeps its last fact, because
// a hub that does not respond may not have changed.
func (r *Reconciler) observe(requests []dependencyv1alpha1.APIRequest) evaluation.APIFacts {
	last, facts := r.Served.APIFacts(), make(evaluation.APIFacts, len(requests))
	for _, request := range requests {
		api := addonv1alpha1.AddonAPI(request.API)
		if fact, ok := r.APIs.Group(request.Group).Fact(request); ok {
			facts[api] = fleet.APIFactsOf([]dependencyv1alpha1.APIFact{fact})[api]
		} else if lastFact, ok := last[api]; ok {
			facts[api] = lastFact
		}
	}
	return facts
}
