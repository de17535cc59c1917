package doctor

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/text"
)

// held counts clusters of which nothing new is known, and verdicts that wait on others.
func held(_ context.Context, h *hub) (results []result) {
	lost := 0
	for i := range h.fleet.Clusters {
		if fleet.ClusterStatus(&h.fleet.Clusters[i]) == metav1.ConditionUnknown {
			lost++
		}
	}
	if lost == 0 {
		results = append(results, result{well, "All managed clusters can be reached", ""})
	} else {
		results = append(results, result{
			note, fmt.Sprintf("%d of %d managed clusters cannot be reached: %s", lost, len(h.fleet.Names()), verdictsOnLost(h)),
			"kubectl get managedclusters",
		})
	}
	results = append(results, unknownOnHub(h)...)
	verdicts, clusters := 0, such{}
	for _, cluster := range h.reached() {
		waiting := h.heldOn(cluster) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		if waiting > 0 {
			verdicts += waiting
			clusters.add(cluster)
		}
	}
	if verdicts == 0 {
		return append(results, result{well, "No verdict is held on managed clusters that can be reached", ""})
	}
	return append(results, result{
		note, fmt.Sprintf("Verdicts that are held on managed clusters that can be reached: %d, on %s, such as %s, "+
			"until add-ons or addon-agent report there, or the hub responds",
			verdicts, text.Count(clusters.count, "cluster"), clusters.first), fmt.Sprintf("kubectl addon report -n %s --all", clusters.first),
	})
}

// unknownOnHub are APIs. Whether the hub serves them is not known.
func unknownOnHub(h *hub) (results []result) {
	for i := range h.fleet.Content.HubAPIs {
		if fact := &h.fleet.Content.HubAPIs[i]; fact.Served == metav1.ConditionUnknown {
			results = append(results, result{
				unwell, fmt.Sprintf("Whether the hub serves the kind %s of the group %q, which dependencies require, is not known: %s",
					fact.Kind, fact.Group, text.OneLine(fact.Message)),
				"kubectl get apiservices",
			})
		}
	}
	return results
}

// heldOn is how many verdicts are held on a cluster.
func (h *hub) heldOn(cluster string) (waiting int) {
	evaluated := h.fleet.Evaluated(cluster)
	for _, addOn := range h.fleet.Installed(cluster) {
		for _, finding := range evaluated(addOn.Name) {
			if finding.Verdict == evaluation.Held {
				waiting++
			}
		}
	}
	return waiting
}
