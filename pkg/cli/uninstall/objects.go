package uninstall

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/dependency/steps"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// warnOfObjects adds to the plan the objects that it leaves without an add-on that provides their kinds.
func (o *options) warnOfObjects(of *planned.Fleet, plan *steps.Plan) {
	all := protection.Objects{}
	for cluster, removed := range removedFrom(plan) {
		one := protection.Objects{}
		for _, into := range []protection.Objects{all, one} {
			for _, addOn := range sets.List(removed) {
				o.addObjects(of, cluster, addOn, removed, into)
			}
		}
		for _, sentence := range one.Sentences() { // as the hub would warn of the deletion there
			o.planned.Insert(sentence.Text)
		}
	}
	for _, sentence := range all.Sentences() {
		plan.Findings = append(plan.Findings, steps.Finding{Text: sentence.Text, Clusters: sentence.Clusters, Named: true})
	}
}

// removedFrom are the add-ons that a plan removes, by managed cluster.
func removedFrom(plan *steps.Plan) map[string]sets.Set[string] {
	removed := map[string]sets.Set[string]{}
	for _, step := range slices.Concat(plan.Layers...) {
		for _, cluster := range step.Clusters {
			if removed[cluster] == nil {
				removed[cluster] = sets.New[string]()
			}
			removed[cluster].Insert(step.AddOn)
		}
	}
	return removed
}

func (o *options) addObjects(of *planned.Fleet, cluster, addOn string, removed sets.Set[string], into protection.Objects) {
	facts := of.FactsObject(cluster)
	if facts == nil {
		return
	}
	on := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: cluster, Name: name} }
	existing := protection.Existing(of.Declared.Catalog, addOn, facts.Status.Objects)
	stays := func(other string) bool {
		installed := of.AddOnOn(on(other))
		return installed != nil && installed.DeletionTimestamp.IsZero() && !removed.Has(other)
	}
	agent := facts.Status.AgentAddOn
	last := fleet.ClusterStatus(of.Object(cluster)) == metav1.ConditionUnknown || agent != "" && fleet.Ended(agent, of.AddOnOn(on(agent))) != ""
	into.Add(of.Declared.Catalog, addOn, cluster, existing, stays, last)
}
