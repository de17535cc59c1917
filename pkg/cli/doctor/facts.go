package doctor

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// answered checks that agents have reported what addon-manager requested of them.
func answered(ctx context.Context, h *hub) []result {
	if !h.fleet.Declared.AnyInput(input.Facts) {
		return []result{{well, "No dependency needs what addon-agent reports", ""}}
	}
	crd, err := h.crd(ctx, dependencyv1alpha1.CRDName)
	switch {
	case err != nil:
		return unread("The CRD of ManagedClusterFacts", err)
	case crd == nil:
		return []result{{
			unwell, "The hub does not serve ManagedClusterFacts, so dependencies on APIs and running versions cannot be evaluated",
			"helm upgrade, or kubectl apply -k deploy/hub",
		}}
	}
	requested, overdue := 0, such{}
	for _, cluster := range h.reached() {
		facts := h.facts[cluster]
		if facts == nil {
			continue
		}
		requested++
		if facts.Status.ObservedGeneration < facts.Generation && h.now.After(h.due(facts)) {
			overdue.add(cluster)
		}
	}
	if overdue.count > 0 {
		return []result{{
			unwell, fmt.Sprintf("Requests of addon-manager that addon-agent has not answered within %s: on %d of %d managed clusters, such as %s",
				evaluation.ReportTime, overdue.count, requested, overdue.first),
			fmt.Sprintf("kubectl describe managedclusterfacts %s -n %s", overdue.first, overdue.first),
		}}
	}
	const all = "addon-agent has answered all requests of addon-manager on managed clusters that can be reached: %d"
	return []result{{well, fmt.Sprintf(all, requested), ""}}
}

// isAnswered reports whether some agent has reported all that was requested of a cluster.
func (h *hub) isAnswered(cluster string) bool {
	facts := h.facts[cluster]
	return facts != nil && facts.Generation > 0 && facts.Status.ObservedGeneration == facts.Generation
}

// due is when an agent should have reported. What was requested while the cluster was away
// counts from its return.
func (h *hub) due(facts *dependencyv1alpha1.ManagedClusterFacts) time.Time {
	requested := facts.CreationTimestamp.Time // of the last request: a snapshot says so
	if back := meta.FindStatusCondition(h.fleet.Object(facts.Namespace).Status.Conditions,
		clusterv1.ManagedClusterConditionAvailable); back != nil {
		requested = evaluation.Later(requested, back.LastTransitionTime.Time)
	}
	return requested.Add(evaluation.ReportTime)
}
