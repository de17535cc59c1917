package stability

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// manager is addon-manager with --lifecycle.
type manager struct {
	// decide is outcome.Decide, or a defect.
	decide func(outcome.Assessment, outcome.Stored, metav1.Time) outcome.Decision
	// conditions are the conditions of an apply, or a defect.
	conditions func(outcome.Decision, outcome.Stored) []metav1.Condition
	// confirm reports whether a decision rests on current declarations. Tests of defects replace it.
	confirm func(outcome.Decision, outcome.Stored, *confirmation) (bool, error)
	// opensFirst is a defect: the gate is opened in the first of the two writes.
	opensFirst bool
}

func newManager() *manager {
	return &manager{decide: outcome.Decide, conditions: outcome.Decision.Conditions, confirm: confirm}
}

// outcomeKey holds all inputs of a reconciliation.
type outcomeKey struct {
	object
	live, seen              Inputs
	guard, forContradiction bool
}

// reconciliation is the result of a reconciliation.
type reconciliation struct {
	// unconfirmed is true if the declarations have changed since then. In that case nothing is written.
	unconfirmed bool
	// writes is true if conditions are applied, and opens is true if the gate is opened after that.
	writes, opens bool
	after         object
}

// reconcile assesses the add-on and decides, as pkg/hub/status does.
func (m *lifecycleModel) reconcile(s LifecycleState) reconciliation {
	key := outcomeKey{s.object, m.inputs(s.Changed), m.inputs(s.Seen), m.Guard, m.ForContradiction}
	return cachedResult(m.outcomes, key, func() reconciliation { return sharedResult(m.rules, m.rules.outcomes, key, m.rules.reconcile) })
}

func (m *lifecycleRules) reconcile(key outcomeKey) (reconciliation, error) {
	ctx := context.Background()
	stored := key.addOn(key.forContradiction)
	live := m.hub(key.live)
	live.addOn = stored
	cached := m.hub(key.seen).withAddOn(stored)
	evaluator := cached.store.Current()
	assessor := assess.Assessor{
		Fleet:  hubcache.NewReader(cached),
		Loader: fleet.Loader{Reader: cache{fleet.Objects{Reader: cached}}, Offline: evaluation.OfflineHold},
		Live:   live, Acts: true,
	}
	assessment, _, err := assessor.Assess(ctx, evaluator, cached.addOn, times[0].Time)
	if err != nil {
		return reconciliation{}, err
	}
	if assessment.Installing != nil && assessment.Installing.Contradiction != nil {
		assessment.Installing.Contradiction = contradictionOf(key.seen.Review)
	}
	status := fleet.Stored(cached.addOn)
	decision := m.manager.decide(assessment, status, sentinel)
	confirmed, err := m.manager.confirm(decision, status, &confirmation{ctx, live, evaluator, cached.addOn})
	if err != nil || !confirmed {
		return reconciliation{unconfirmed: true, after: key.object}, err
	}
	result := reconciliation{opens: decision.Open, writes: len(decision.Changed) > 0, after: key.object}
	if decision.Empty() && key.guard && !availability.LeftByGuard(status.Available, status.Degraded) {
		decision.Changed, result.writes = []metav1.Condition{*status.Degraded}, true // for a guard that is installed later
	}
	if result.writes {
		result.after = key.apply(m.manager.conditions(decision, status), decision.HealthCheck)
	}
	return result, nil
}

func contradictionOf(review review) *outcome.Contradiction {
	switch review {
	case contradicts:
		return &outcome.Contradiction{Message: "It contradicts another one.", Reviewed: true}
	case notReviewed:
		return &outcome.Contradiction{}
	default:
		return &outcome.Contradiction{Reviewed: true}
	}
}

// confirmation holds the objects that a decision is confirmed with.
type confirmation struct {
	context.Context

	live      hub
	evaluator *evaluation.Evaluator
	addOn     *addonv1alpha1.ManagedClusterAddOn
}

// confirm compares the catalog with the API server, as pkg/hub/status does before a write that cannot be reverted.
func confirm(decision outcome.Decision, stored outcome.Stored, c *confirmation) (bool, error) {
	confirmed, err := true, error(nil)
	if decision.Open {
		if confirmed, err = declarations.Current(c, c.live, c.evaluator, c.addOn.Name); err == nil && confirmed {
			confirmed, err = declarations.CurrentTemplate(c, c.live, c.evaluator, assess.Chosen(c.addOn))
		}
	}
	available := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionAvailable)
	if available != nil && availability.ClusterLost(stored.Available) && fleet.ClusterStatus(&c.live.cluster) == metav1.ConditionUnknown {
		return false, nil
	}
	upgradable := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionUpgradable)
	if confirmed && err == nil && upgradable != nil && upgradable.Reason == gate.ReasonSatisfied {
		if confirmed, err = declarations.TemplateExists(c, c.live, stored.Waiting); err == nil && confirmed {
			confirmed, err = declarations.CurrentTemplate(c, c.live, c.evaluator, stored.Waiting)
		}
	}
	return confirmed, err
}

// updateKey is a change of the add-on that addon-manager receives.
type updateKey struct {
	before, after    object
	seen             Inputs
	forContradiction bool
}

// enqueues reports whether the change makes addon-manager reconcile the add-on.
func (m *lifecycleModel) enqueues(before, after object, seen Inputs) bool {
	key := updateKey{before, after, seen, m.ForContradiction}
	return cachedResult(m.updates, key, func() bool { return sharedResult(m.rules, m.rules.updates, key, m.rules.enqueues) })
}

func (m *lifecycleRules) enqueues(key updateKey) (bool, error) {
	watch := assess.Watch{
		Declarations: m.hub(key.seen).store, Memory: assess.NewMemory(clocktesting.NewFakePassiveClock(times[0].Time)), Acts: true,
		Forget: func(types.NamespacedName) {},
	}
	queue := &queue{}
	watch.AddOns().UpdateFunc(context.Background(), event.TypedUpdateEvent[*addonv1alpha1.ManagedClusterAddOn]{
		ObjectOld: fleet.LeanAddOn(key.before.addOn(key.forContradiction)), ObjectNew: fleet.LeanAddOn(key.after.addOn(key.forContradiction)),
	}, queue)
	return queue.enqueued, nil
}

// queue reports whether the add-on was enqueued.
type queue struct {
	trigger.Queue // has no other methods

	enqueued bool
}

// Add implements workqueue.TypedInterface.
func (q *queue) Add(request reconcile.Request) {
	q.enqueued = q.enqueued || request.Name == stock.AddOn
}
