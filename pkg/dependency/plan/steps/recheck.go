package steps

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/text"
)

// Recheck returns the problems of the remaining layers of a removal: a staying add-on requires a removed one or uses one that is
// removed with it, or another writer has taken one over. A user may have installed or changed add-ons while earlier layers were removed.
func Recheck(evaluator *evaluation.Evaluator, request Removal, remaining []Layer, clusters []Cluster) []Finding {
	var problems []Finding
	for i := range clusters {
		cluster := clusters[i]
		removed := removedFrom(remaining, cluster.Name)
		if removed.Len() == 0 {
			continue
		}
		plan := Remove(evaluator, Removal{AddOns: sets.List(removed), Forced: request.Forced}, []Cluster{cluster})
		if len(plan.Problems) > 0 {
			problems = append(problems, plan.Problems...)
			continue
		}
		for _, addOn := range sets.List(removed.Difference(sets.New(request.AddOns...))) {
			for _, reason := range userReasons(evaluator, cluster, removed, addOn) {
				problems = append(problems, Finding{Text: reason, Clusters: []string{cluster.Name}})
			}
		}
	}
	return problems
}

// removedFrom returns the add-ons that layers remove from a managed cluster.
func removedFrom(layers []Layer, cluster string) sets.Set[string] {
	removed := sets.New[string]()
	for _, step := range slices.Concat(layers...) {
		if step.ByPlugin() && slices.Contains(step.Clusters, cluster) {
			removed.Insert(step.AddOn)
		}
	}
	return removed
}

// userReasons returns the reasons why an add-on that the user has not named stays when its dependents are removed.
func userReasons(evaluator *evaluation.Evaluator, cluster Cluster, removed sets.Set[string], addOn string) []string {
	var reasons []string
	if cluster.Taken.Has(addOn) {
		reasons = append(reasons, fmt.Sprintf("another writer has taken over '%s'", text.Name(addOn)))
	}
	for _, user := range installation.Users(evaluator.Catalog, addOn) {
		if observed := cluster.AddOns[user]; observed.Installed && observed.Removed.IsZero() && !removed.Has(user) {
			reasons = append(reasons, fmt.Sprintf("'%s' depends on '%s'", text.Name(user), text.Name(addOn)))
		}
	}
	return reasons
}
