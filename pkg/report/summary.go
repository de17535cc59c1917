package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Summary has the edges of a fleet, each with the numbers of its verdicts.
type Summary struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time `json:"taken"`
	Reach `json:",inline"`
	// Items are ordered by add-on, edge and type.
	Items []SummarizedEdge `json:"items"`
	// Waiting are the installations and upgrades that wait for dependencies. Waits on most managed clusters come first.
	Waiting []SummarizedWait `json:"waiting,omitempty"`
}

// SummarizedEdge is an edge or a requirement, over the fleet.
type SummarizedEdge struct {
	// AddOn is the dependent.
	AddOn string `json:"addOn"`
	// Edge is the name of the dependency, or of the requirement. It is empty if the declaration of the add-on is not known.
	Edge string                       `json:"edge"`
	Type addonv1alpha1.DependencyType `json:"type"`
	// Verdicts has the number of managed clusters by verdict. The verdict on lost clusters is Held.
	Verdicts map[evaluation.Verdict]int `json:"verdicts"`
}

// FindSummary counts the verdicts on the edges of all add-ons, or of a single add-on, on the managed clusters for which counts is true.
func FindSummary(hub *snapshot.Snapshot, counts func(cluster string) bool, addOn string) *Summary {
	summary := &Summary{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "DependencySummary"}, Taken: hub.Taken, Items: []SummarizedEdge{},
	}
	type edge struct {
		addOn, name string
		kind        addonv1alpha1.DependencyType
	}
	verdicts := map[edge]map[evaluation.Verdict]int{}
	for _, cluster := range hub.Names() {
		if !counts(cluster) {
			continue
		}
		summary.count(hub, cluster)
		evaluatedCluster := EvaluateCluster(hub.Evaluation(), hub.Whole(cluster))
		evaluatedCluster.Waiting = hub.Waiting(cluster)
		summary.addWaits(evaluatedCluster, addOn)
		for _, installed := range hub.Installed(cluster) {
			if cmp.Or(addOn, installed.Name) != installed.Name {
				continue
			}
			for _, finding := range evaluatedCluster.findings[installed.Name] {
				key := edge{installed.Name, finding.Name(), finding.Type()}
				if verdicts[key] == nil {
					verdicts[key] = map[evaluation.Verdict]int{}
				}
				verdicts[key][finding.Verdict]++
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(verdicts), func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.addOn, b.addOn), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	}) {
		summary.Items = append(summary.Items, SummarizedEdge{AddOn: key.addOn, Edge: key.name, Type: key.kind, Verdicts: verdicts[key]})
	}
	slices.SortStableFunc(summary.Waiting, SummarizedWait.compare)
	return summary
}
