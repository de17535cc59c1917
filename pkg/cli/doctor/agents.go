package doctor

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet"
)

// maxClusters is how many managed clusters a command names.
const maxClusters = 50

// agents counts addon-agents on clusters that can be reached, and those that are missing.
func agents(_ context.Context, h *hub) (results []result) {
	running, silent := 0, such{}
	var missing []string
	for _, cluster := range h.reached() {
		addOn := h.fleet.AddOnOn(client.ObjectKey{Namespace: cluster, Name: agentAddOn})
		switch {
		case addOn == nil && h.needsAgent(cluster) && !h.isAnswered(cluster):
			missing = append(missing, cluster)
		case addOn == nil: // it needs none, or one that is no add-on reports
		case fleet.Available(addOn) != nil && fleet.Available(addOn).Status == metav1.ConditionTrue:
			running++
		default:
			silent.add(cluster)
		}
	}
	if silent.count > 0 {
		results = append(results, result{
			unwell, fmt.Sprintf("addon-agent is not available on %d of %d managed clusters, such as %s", silent.count, running+silent.count,
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
		return []result{{well, fmt.Sprintf("addon-agent is available on all managed clusters that have it: %d", running), ""}}
	}
}

// missingAgents is for clusters whose dependencies need an agent.
func (h *hub) missingAgents(clusters []string) result {
	found := result{
		unwell, fmt.Sprintf("Managed clusters without addon-agent where add-ons depend on APIs or running versions: %d, such as %s. "+
			"These dependencies cannot be evaluated", len(clusters), clusters[0]),
		"docs/install.md#addon-agent-on-managed-clusters",
	}
	if h.fleet.Declared.Registered(agentAddOn) {
		found.repair = fmt.Sprintf("clusteradm addon enable --names %s --clusters %s", agentAddOn, strings.Join(clusters[:min(len(clusters),
			maxClusters)], ","))
	}
	return found
}

// reached are the managed clusters that can be reached.
func (h *hub) reached() (clusters []string) {
	for _, cluster := range h.fleet.Names() {
		if object := h.fleet.Object(cluster); object != nil && fleet.ClusterStatus(object) == metav1.ConditionTrue {
			clusters = append(clusters, cluster)
		}
	}
	return clusters
}

// needsAgent reports whether a dependency of an add-on on a cluster needs what only an agent
// can report.
func (h *hub) needsAgent(cluster string) bool {
	requests := h.fleet.Requests(cluster)
	return !requests.Empty()
}
