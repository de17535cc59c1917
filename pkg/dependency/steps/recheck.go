package steps

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/text"
)

// Recheck returns why the layers that are left of a removal cannot be removed any more: add-ons that stay require them, or use one that the
// removal brings along, or another writer has taken that over. A user may have installed or changed add-ons while layers before were removed.
func Recheck(declared *evaluation.Evaluator, wanted Removal, left []Layer, clusters []Cluster) (problems []Finding) {
	for i := range clusters {
		cluster := clusters[i]
		removed := removedFrom(left, cluster.Name)
		if removed.Len() == 0 {
			continue
		}
		plan := Remove(declared, Removal{AddOns: sets.List(removed), Forced: wanted.Forced}, []Cluster{cluster})
		if len(plan.Problems) > 0 {
			problems = append(problems, plan.Problems...)
			continue
		}
		for _, addOn := range sets.List(removed.Difference(sets.New(wanted.AddOns...))) {
			for _, reason := range usedAgain(declared, cluster, removed, addOn) {
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

// usedAgain returns why an add-on that nobody has named is not removed with those that needed it.
func usedAgain(declared *evaluation.Evaluator, cluster Cluster, removed sets.Set[string], addOn string) (reasons []string) {
	if cluster.Taken.Has(addOn) {
		reasons = append(reasons, fmt.Sprintf("another writer has taken over '%s'", text.Name(addOn)))
	}
	for _, user := range installation.Users(declared.Catalog, addOn) {
		if observed := cluster.AddOns[user]; observed.Installed && observed.Removed.IsZero() && !removed.Has(user) {
			reasons = append(reasons, fmt.Sprintf("'%s' depends on '%s'", text.Name(user), text.Name(addOn)))
		}
	}
	return reasons
}
