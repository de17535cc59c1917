package doctor

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet"
)

// maxClusters is the largest number of managed clusters that a command names.
const maxClusters = 50

// checkAgents checks addon-agent on the managed clusters that can be reached.
func checkAgents(_ context.Context, h *hub) []result {
	running, silent := 0, tally{}
	var missing []string
	for _, cluster := range h.reachable() {
		addOn := h.fleet.AddOnOn(client.ObjectKey{Namespace: cluster, Name: agentAddOn})
		if object := h.fleet.Object(cluster); object != nil && object.DeletionTimestamp != nil {
			continue // it is being detached, so nothing is installed there any more
		}
		switch {
		case addOn == nil && h.needsAgent(cluster) && !h.isReported(cluster):
			missing = append(missing, cluster)
		case addOn == nil: // The cluster needs no agent, or an agent that is no add-on reports.
		case fleet.Available(addOn) != nil && fleet.Available(addOn).Status == metav1.ConditionTrue:
			running++
		default:
			silent.add(cluster)
		}
	}
	var results []result
	if silent.count > 0 {
		results = append(results, result{
			failed, fmt.Sprintf("addon-agent is not available on %d of %d managed clusters, such as %s", silent.count, running+silent.count,
				silent.first),
			fmt.Sprintf("kubectl describe managedclusteraddon %s -n %s", agentAddOn, silent.first),
		})
	}
	if len(missing) > 0 {
		results = append(results, h.missingAgents(missing))
	}
	switch {
	case len(results) > 0:
		return results
	case running == 0:
		return []result{{
			note, "addon-agent is installed on no managed cluster, and no dependency needs it: none is on an API or a running version",
			"docs/install.md#addon-agent-on-managed-clusters",
		}}
	default:
		return []result{{passed, fmt.Sprintf("addon-agent is available on all managed clusters that have it: %d", running), ""}}
	}
}

// missingAgents returns the result for clusters without addon-agent whose dependencies need it.
func (h *hub) missingAgents(clusters []string) result {
	missing := result{
		failed, fmt.Sprintf("Managed clusters without addon-agent where add-ons depend on APIs or running versions: %d, such as %s. "+
			"There, APIs are not known, and versions only from objects on the hub", len(clusters), clusters[0]),
		"docs/install.md#addon-agent-on-managed-clusters",
	}
	if h.fleet.Declared.Registered(agentAddOn) {
		first := strings.Join(clusters[:min(len(clusters), maxClusters)], ",")
		missing.repair = fmt.Sprintf("clusteradm addon enable --names %s --clusters %s", agentAddOn, first)
	}
	return missing
}

// reachable returns the managed clusters that can be reached.
func (h *hub) reachable() []string {
	var clusters []string
	for _, cluster := range h.fleet.Names() {
		if object := h.fleet.Object(cluster); object != nil && fleet.ClusterStatus(object) == metav1.ConditionTrue {
			clusters = append(clusters, cluster)
		}
	}
	return clusters
}

// needsAgent reports whether a dependency on a cluster needs facts that only an agent can report.
func (h *hub) needsAgent(cluster string) bool {
	requests := h.fleet.Requests(cluster)
	return !requests.Empty()
}
