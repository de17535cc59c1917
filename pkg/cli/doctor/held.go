package doctor

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/text"
)

// checkHeldVerdicts counts the clusters that cannot be reached, and the verdicts that are held on other clusters.
func checkHeldVerdicts(_ context.Context, h *hub) []result {
	var results []result
	lost := 0
	for i := range h.fleet.Clusters {
		if fleet.ClusterStatus(&h.fleet.Clusters[i]) == metav1.ConditionUnknown {
			lost++
		}
	}
	if lost == 0 {
		results = append(results, result{passed, "All managed clusters can be reached", ""})
	} else {
		results = append(results, result{
			note, fmt.Sprintf("%d of %d managed clusters cannot be reached: %s", lost, len(h.fleet.Names()), describeLostVerdicts(h)),
			"kubectl get managedclusters",
		})
	}
	results = append(results, unknownHubAPIs(h)...)
	verdicts, clusters := 0, tally{}
	for _, cluster := range h.reachable() {
		held := h.countHeld(cluster) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		if held > 0 {
			verdicts += held
			clusters.add(cluster)
		}
	}
	if verdicts == 0 {
		return append(results, result{passed, "No verdict is held on managed clusters that can be reached", ""})
	}
	return append(results, result{
		note, fmt.Sprintf("Verdicts that are held on managed clusters that can be reached: %d, on %s, such as %s, "+
			"until add-ons or addon-agent report there, or the hub responds",
			verdicts, text.Count(clusters.count, "cluster"), clusters.first), fmt.Sprintf("kubectl addon report -n %s --all", clusters.first),
	})
}

// unknownHubAPIs reports the required APIs that the hub may or may not serve, because it did not respond to the check.
func unknownHubAPIs(h *hub) []result {
	var results []result
	for i := range h.fleet.Content.HubAPIs {
		if fact := &h.fleet.Content.HubAPIs[i]; fact.Served == metav1.ConditionUnknown {
			results = append(results, result{
				failed, fmt.Sprintf("Whether the hub serves the kind %s of the group %q, which dependencies require, is not known: %s",
					fact.Kind, fact.Group, text.OneLine(fact.Message)),
				"kubectl get apiservices",
			})
		}
	}
	return results
}

// countHeld returns the number of verdicts that are held on a cluster.
func (h *hub) countHeld(cluster string) int {
	held := 0
	evaluated := h.fleet.Evaluated(cluster)
	for _, addOn := range h.fleet.Installed(cluster) {
		for _, finding := range evaluated(addOn.Name) {
			if finding.Verdict == evaluation.Held {
				held++
			}
		}
	}
	return held
}
