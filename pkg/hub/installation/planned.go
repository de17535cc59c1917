package installation

import (
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
)

// planned stores what installations wait for by a plan. It returns the dependents of those whose wait differs, and after the first plan all.
func (r *Reconciler) planned(plan installation.Plan, needs []need) (changed []types.NamespacedName) {
	waits := make(map[types.NamespacedName]evaluation.Wait, len(plan.GivenUp))
	for _, one := range needs {
		if plan.Unapproved[one.AddOn] > 0 {
			waits[keyOf(one.Target)] = evaluation.WaitForApproval
		}
	}
	for _, target := range plan.GivenUp {
		waits[keyOf(target)] = evaluation.WaitGivenUp
	}
	differs := r.Inputs.Installations.Plan(waits)
	for _, one := range r.Needs.all() {
		if !differs(keyOf(one.Target)) {
			continue
		}
		for _, dependent := range one.dependents {
			changed = append(changed, types.NamespacedName{Namespace: one.Cluster, Name: dependent})
		}
	}
	return changed
}

func keyOf(target installation.Target) types.NamespacedName {
	return types.NamespacedName{Namespace: target.Cluster, Name: target.AddOn}
}
