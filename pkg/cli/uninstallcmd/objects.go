package uninstallcmd

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// warnOfObjects adds warnings to the plan about objects whose kinds no add-on provides after it.
func (o *options) warnOfObjects(fleetState *planned.Fleet, plan *steps.Plan) {
	fleetObjects := protection.Objects{}
	for cluster, removed := range removedFrom(plan) {
		clusterObjects := protection.Objects{}
		for _, objects := range []protection.Objects{fleetObjects, clusterObjects} {
			for _, addOn := range sets.List(removed) {
				o.addObjects(fleetState, cluster, addOn, removed, objects)
			}
		}
		for _, sentence := range clusterObjects.Sentences() { // the hub's warnings about the deletion there
			o.shown.Insert(sentence.Text)
		}
	}
	for _, sentence := range fleetObjects.Sentences() {
		plan.Findings = append(plan.Findings, steps.Finding{Text: sentence.Text, Clusters: sentence.Clusters, Named: true})
	}
}

// removedFrom returns the add-ons that a plan removes, by managed cluster.
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

func (o *options) addObjects(
	fleetState *planned.Fleet, cluster, addOn string, removed sets.Set[string], objects protection.Objects,
) {
	facts := fleetState.FactsObject(cluster)
	if facts == nil {
		return
	}
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: cluster, Name: name} }
	existing := protection.Existing(fleetState.Declared.Catalog, addOn, facts.Status.Objects)
	stays := func(name string) bool {
		installed := fleetState.AddOnOn(key(name))
		return installed != nil && installed.DeletionTimestamp.IsZero() && !removed.Has(name)
	}
	agent := facts.Status.AgentAddOn
	outdated := fleet.ClusterStatus(fleetState.Object(cluster)) == metav1.ConditionUnknown ||
		agent != "" && fleet.Ended(agent, fleetState.AddOnOn(key(agent))) != ""
	objects.Add(fleetState.Declared.Catalog, addOn, cluster, existing, stays, outdated)
}
