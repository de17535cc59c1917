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
	// confirm reports whether a decision rests on current declarations, or is a defect.
	confirm func(outcome.Decision, outcome.Stored, *confirmation) (bool, error)
	// opensFirst is a defect: the gate is opened in the first of the two writes.
	opensFirst bool
}

func newManager() *manager {
	return &manager{decide: outcome.Decide, conditions: outcome.Decision.Conditions, confirm: confirm}
}

// outcomeKey is all that a reconciliation depends on.
type outcomeKey struct {
	object
	live, seen              Inputs
	guard, forContradiction bool
}

// reconciled is the result of a reconciliation.
type reconciled struct {
	// unconfirmed is true if the declarations have changed since, so nothing is written.
	unconfirmed bool
	// writes is true if conditions are applied, and opens is true if the gate is opened after that.
	writes, opens bool
	after         object
}

// reconcile assesses the add-on and decides, as pkg/hub/status does.
func (m *lifecycleModel) reconcile(s LifecycleState) reconciled {
	key := outcomeKey{s.object, m.inputs(s.Changed), m.inputs(s.Seen), m.Guard, m.ForContradiction}
	return once(m.outcomes, key, func() reconciled { return shared(m.rules, m.rules.outcomes, key, m.rules.reconcile) })
}

func (m *lifecycleRules) reconcile(key outcomeKey) (reconciled, error) {
	ctx := context.Background()
	stored := key.addOn(key.forContradiction)
	live := m.hub(key.live)
	live.addOn = stored
	cached := m.hub(key.seen).with(stored)
	declared := cached.store.Current()
	assessor := assess.Assessor{
		Fleet:  hubcache.NewReader(cached),
		Loader: fleet.Loader{Reader: cache{fleet.Objects{Reader: cached}}, Offline: evaluation.OfflineHold},
		Live:   live, Acts: true,
	}
	assessment, _, err := assessor.Assess(ctx, declared, cached.addOn, times[0].Time)
	if err != nil {
		return reconciled{}, err
	}
	if assessment.Installing != nil && assessment.Installing.Contradiction != nil {
		assessment.Installing.Contradiction = contradictionOf(key.seen.Review)
	}
	known := fleet.Stored(cached.addOn)
	decision := m.manager.decide(assessment, known, sentinel)
	confirmed, err := m.manager.confirm(decision, known, &confirmation{ctx, live, declared, cached.addOn})
	if err != nil || !confirmed {
		return reconciled{unconfirmed: true, after: key.object}, err
	}
	result := reconciled{opens: decision.Open, writes: len(decision.Changed) > 0, after: key.object}
	if decision.Empty() && key.guard && !availability.LeftByGuard(known.Available, known.Degraded) {
		decision.Changed, result.writes = []metav1.Condition{*known.Degraded}, true // for a guard that came later
	}
	if result.writes {
		result.after = key.apply(m.manager.conditions(decision, known), decision.HealthCheck)
	}
	return result, nil
}

func contradictionOf(found review) *outcome.Contradiction {
	switch found {
	case contradicts:
		return &outcome.Contradiction{Message: "It contradicts another one.", Reviewed: true}
	case notReviewed:
		return &outcome.Contradiction{}
	default:
		return &outcome.Contradiction{Reviewed: true}
	}
}

// confirmation is all that confirms a decision.
type confirmation struct {
	context.Context

	live     hub
	declared *evaluation.Evaluator
	addOn    *addonv1alpha1.ManagedClusterAddOn
}

// confirm compares the catalog with the API server, as pkg/hub/status does before a write that cannot be reverted.
func confirm(decision outcome.Decision, stored outcome.Stored, by *confirmation) (confirmed bool, err error) {
	confirmed = true
	if decision.Open {
		if confirmed, err = declarations.Current(by, by.live, by.declared, by.addOn.Name); err == nil && confirmed {
			confirmed, err = declarations.CurrentTemplate(by, by.live, by.declared, assess.Chosen(by.addOn))
		}
	}
	available := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionAvailable)
	if available != nil && availability.ClusterLost(stored.Available) && fleet.ClusterStatus(&by.live.cluster) == metav1.ConditionUnknown {
		return false, nil
	}
	upgradable := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionUpgradable)
	if confirmed && err == nil && upgradable != nil && upgradable.Reason == gate.ReasonSatisfied {
		if confirmed, err = declarations.TemplateExists(by, by.live, stored.Waiting); err == nil && confirmed {
			confirmed, err = declarations.CurrentTemplate(by, by.live, by.declared, stored.Waiting)
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
	return once(m.updates, key, func() bool { return shared(m.rules, m.rules.updates, key, m.rules.enqueues) })
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
