package stability

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// The add-on that the add-on depends on.
const base = "base"

type degradeKey struct {
	dependency Dependency
	lost       bool
	stored     entry
}

// evaluate returns the Degraded that addon-manager stores.
func (i *interlock) evaluate(state Dependency, lost bool, stored entry) entry {
	key := degradeKey{state, lost, stored}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if cached, ok := i.degradations[key]; ok {
		return cached
	}
	result := stored
	now := times[0] // a single time of Degraded is enough for the agent and the guard
	if desired := decideDegraded(stored.condition(), state, clusterStatus(lost), now); desired != nil {
		desired.LastTransitionTime = now
		result = entryOf(desired)
	}
	i.degradations[key] = result
	return result
}

// decideDegraded returns the Degraded that addon-manager writes on an add-on without a gate, or nil if it writes
// nothing. On such an add-on it writes no other field.
func decideDegraded(stored *metav1.Condition, state Dependency, cluster metav1.ConditionStatus, now metav1.Time) *metav1.Condition {
	decision := outcome.Decide(
		outcome.Assessment{Acts: true, Findings: findings(state, cluster, now.Time)}, outcome.Stored{Degraded: stored}, now)
	desired := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionDegraded)
	if decision.Open || decision.HealthCheck != "" || len(decision.Changed) > 1 || len(decision.Changed) == 1 && desired == nil {
		panic(fmt.Sprintf("addon-manager writes %+v", decision))
	}
	return desired
}

func findings(state Dependency, cluster metav1.ConditionStatus, now time.Time) []evaluation.Finding {
	edge := addonv1alpha1.AddonDependency{Name: base, Type: addonv1alpha1.DependencyTypeRequired}
	if state == OptionalMissing {
		edge.Type = addonv1alpha1.DependencyTypeOptional
	}
	catalog := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		{ObjectMeta: metav1.ObjectMeta{Name: stock.AddOn}, Spec: addonv1alpha1.ClusterManagementAddOnSpec{
			Dependencies: []addonv1alpha1.AddonDependency{edge},
		}},
		{ObjectMeta: metav1.ObjectMeta{Name: base}},
	}))
	since := now.Add(-time.Hour)
	return catalog.Evaluate(stock.AddOn, catalog.State(stock.AddOn, evaluation.Cluster{
		Name: "cluster1", Available: cluster, Back: since, Now: now, Offline: evaluation.OfflineHold,
	}, func(string) evaluation.Observation {
		if state != Satisfied {
			return evaluation.Observation{}
		}
		return evaluation.Observation{Installed: true, Available: &metav1.Condition{
			Type: "Available", Status: metav1.ConditionTrue, Reason: "Fine", LastTransitionTime: metav1.NewTime(since),
		}}
	}))
}

// failing returns Degraded with the Required dependency missing, in today's wording and in a former one.
func failing() []entry {
	degraded := decideDegraded(nil, RequiredMissing, metav1.ConditionTrue, times[0])
	before := *degraded
	before.Message = "Required addon 'base' is not installed or not available. (Available=False)"
	return []entry{entryOf(degraded), entryOf(&before)}
}

// otherDegraded returns all other values of Degraded: none, satisfied, and with an Optional dependency missing.
func otherDegraded() []entry {
	optional := decideDegraded(nil, OptionalMissing, metav1.ConditionTrue, times[0])
	satisfied := decideDegraded(failing()[0].condition(), Satisfied, metav1.ConditionTrue, times[0])
	return []entry{0, entryOf(satisfied), entryOf(optional)}
}
