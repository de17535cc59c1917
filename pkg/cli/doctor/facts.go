package doctor

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// checkFacts checks that agents have reported the facts that addon-manager requested.
func checkFacts(ctx context.Context, h *hub) []result {
	if !h.fleet.Declared.AnyInput(input.Facts) {
		return []result{{passed, "No dependency needs what addon-agent reports", ""}}
	}
	crd, err := h.crd(ctx, dependencyv1alpha1.CRDName)
	switch {
	case err != nil:
		return unreadable("The CRD of ManagedClusterFacts", err)
	case crd == nil:
		return []result{{
			failed, "The hub does not serve ManagedClusterFacts, so APIs of managed clusters are not known, and versions only from objects on the hub",
			"helm upgrade, kubectl addon hub upgrade, or kubectl apply -k deploy/hub",
		}}
	}
	requested, overdue := 0, tally{}
	for _, cluster := range h.reachable() {
		facts := h.facts[cluster]
		if facts == nil {
			continue
		}
		requested++
		if facts.Status.ObservedGeneration < facts.Generation && h.now.After(h.deadline(facts)) {
			overdue.add(cluster)
		}
	}
	if overdue.count > 0 {
		return []result{{
			failed, fmt.Sprintf("Requests of addon-manager that addon-agent has not answered within %s: on %d of %d managed clusters, such as %s",
				evaluation.ReportTime, overdue.count, requested, overdue.first),
			fmt.Sprintf("kubectl describe managedclusterfacts %s -n %s", overdue.first, overdue.first),
		}}
	}
	const message = "addon-agent has answered all requests of addon-manager on managed clusters that can be reached: %d"
	return []result{{passed, fmt.Sprintf(message, requested), ""}}
}

// isReported reports whether an agent has reported all facts that are requested of a cluster.
func (h *hub) isReported(cluster string) bool {
	facts := h.facts[cluster]
	return facts != nil && facts.Generation > 0 && facts.Status.ObservedGeneration == facts.Generation
}

// deadline returns the time by which an agent should have reported. While a cluster cannot be reached, no time passes for its agent.
func (h *hub) deadline(facts *dependencyv1alpha1.ManagedClusterFacts) time.Time {
	requested := facts.CreationTimestamp.Time // In a snapshot, it is the time of the last request.
	conditions := h.fleet.Object(facts.Namespace).Status.Conditions
	if available := meta.FindStatusCondition(conditions, clusterv1.ManagedClusterConditionAvailable); available != nil {
		requested = evaluation.Later(requested, available.LastTransitionTime.Time)
	}
	return requested.Add(evaluation.ReportTime)
}
