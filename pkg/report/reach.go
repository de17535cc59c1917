package report

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// Reach counts the managed clusters of a report.
type Reach struct {
	// Clusters is the number of clusters that can be reached.
	Clusters int `json:"clusters"`
	// Lost is the number of clusters that cannot be reached. Their state is not current.
	Lost int `json:"lost,omitempty"`
}

// ReachOf counts the managed clusters of a snapshot.
func ReachOf(hub *snapshot.Snapshot) Reach {
	var reach Reach
	for _, name := range hub.Names() {
		reach.count(hub, name)
	}
	return reach
}

// String returns the number of clusters in the words that all verbs use.
func (r Reach) String() string {
	words := text.Count(r.Clusters, "managed cluster")
	if r.Lost > 0 {
		words += fmt.Sprintf(" (without %d that cannot be reached)", r.Lost)
	}
	return words
}

// TotalString returns the number of clusters with the clusters that cannot be reached, in words.
func (r Reach) TotalString() string {
	words := Reach{Clusters: r.Clusters + r.Lost}.String()
	if r.Lost > 0 {
		words += fmt.Sprintf(" (%d cannot be reached)", r.Lost)
	}
	return words
}

// count counts a managed cluster, and reports whether it can be reached.
func (r *Reach) count(hub *snapshot.Snapshot, cluster string) bool {
	return r.add(hub.Lost(cluster))
}

// add counts a managed cluster that may be lost, and reports whether it can be reached.
func (r *Reach) add(lost bool) bool {
	if lost {
		r.Lost++
		return false
	}
	r.Clusters++
	return true
}
