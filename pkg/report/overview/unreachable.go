package overview

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// describeCluster begins the command that shows a managed cluster.
const describeCluster = "kubectl describe managedcluster "

// Unreachable describes the managed clusters that cannot be reached. No root cause counts them.
type Unreachable struct {
	Title string `json:"title"`
	// On has the numbers of clusters, and of add-ons on them.
	On string `json:"on"`
	// Since is when the hub noticed it first, and Place where. Since is zero if it is not known.
	Since time.Time `json:"since,omitzero"`
	Place string    `json:"place,omitempty"`
	// InCommon are sentences about what the clusters have in common.
	InCommon []string `json:"inCommon,omitempty"`
	Note     string   `json:"note"`
	// Run is the command that shows one of the clusters. It may be empty. Effect describes it.
	Run    string `json:"run,omitempty"`
	Effect string `json:"effect,omitempty"`
	// Clusters is the number of the clusters, and ClusterNames has the first of them.
	Clusters     int   `json:"clusters"`
	ClusterNames Names `json:"clusterNames"`
}

// addUnreachable adds the managed clusters that cannot be reached.
func (o *Overview) addUnreachable(hub *snapshot.Snapshot, options Options) {
	found := report.FindUnreachable(hub, options.Cluster)
	if found == nil {
		return
	}
	count := len(found.Clusters)
	entry := &Unreachable{
		Title: text.Count(count, "managed cluster") + " cannot be reached",
		On:    fmt.Sprintf("%d of %s, with %s", count, text.Count(count+found.Others, "managed cluster"), text.Count(found.AddOns, "add-on")),
		Since: found.Began.Since, Place: found.Began.Place(count),
		Note: "Nothing new is known of the add-ons there: their state is Lost, and no root cause counts them. Clusters that are lost at the same " +
			"time, and have something in common, may have lost the way to the hub.",
		Clusters: count, ClusterNames: named(found.Clusters, maxOn),
	}
	for _, trait := range found.Shared[:min(len(found.Shared), maxShared)] {
		entry.InCommon = append(entry.InCommon, fmt.Sprintf("%s=%s: %d of the %d, and %d of the %d other clusters",
			text.Name(trait.Name), text.Name(trait.Value), trait.Affected, count, trait.Others, found.Others))
	}
	if count > 1 && len(found.Shared) == 0 && found.Others > 0 {
		entry.InCommon = []string{"no label, claim or version of Kubernetes that most others lack"}
	}
	first := found.Clusters[0]
	if found.Began.Cluster != "" {
		first = found.Began.Cluster
	}
	if len(validation.IsDNS1123Subdomain(first)) == 0 {
		entry.Run, entry.Effect = options.Command(describeCluster+first), "only reads"
		if count > 1 {
			entry.Effect = fmt.Sprintf("only reads, and shows %s, one of the %d: for another one, replace its name", first, count)
		}
	}
	o.Unreachable = entry
}
