package report

import (
	"cmp"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// UnreachableClusters are the managed clusters that cannot be reached. No root cause counts them.
type UnreachableClusters struct {
	// Clusters are in ascending order.
	Clusters []string
	// AddOns is the number of add-ons on them.
	AddOns int
	// Began is when the hub noticed that it cannot reach them.
	Began cause.Onset
	// Shared are traits of these clusters that most of the others do not have. Others is the number of the clusters that can be reached.
	Shared []cause.Common
	Others int
}

// FindUnreachable returns the managed clusters that cannot be reached, of all or of a single one. It is nil if there are none. Clusters that
// are being detached do not count.
func FindUnreachable(hub *snapshot.Snapshot, single string) *UnreachableClusters {
	names := slices.DeleteFunc(hub.Names(), func(name string) bool { return cmp.Or(single, name) != name })
	traits := newTraitsFinder(len(names), func(cluster int) *clusterv1.ManagedCluster { return hub.Object(names[cluster]) })
	found := &UnreachableClusters{}
	var lost, candidates []int
	var moments []cause.Moment
	for i, name := range names {
		if isDetached(hub.Object(name)) {
			continue
		}
		candidates = append(candidates, i)
		if !hub.Lost(name) {
			continue
		}
		lost = append(lost, i)
		found.Clusters, found.AddOns = append(found.Clusters, name), found.AddOns+len(hub.Installed(name))
		moments = append(moments, cause.Moment{Cluster: name, Time: LostSince(hub.Object(name))})
	}
	if len(lost) == 0 {
		return nil
	}
	found.Began = cause.FindOnset(moments)
	found.Shared, found.Others = traits.compare(lost, candidates)
	return found
}

// LostSince returns the time when the hub noticed that it cannot reach a managed cluster. It is zero if that is not known.
func LostSince(cluster *clusterv1.ManagedCluster) time.Time {
	available := apimeta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	if available == nil || available.LastTransitionTime.IsZero() {
		return time.Time{}
	}
	return available.LastTransitionTime.UTC()
}
