package report

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// UnavailableText describes add-ons that are not available, and are no root cause.
const UnavailableText = "not available, and no Required dependency fails because of"

// UnavailableAddOn is an add-on that is not available for the same reason on some managed clusters. No dependency of it fails, and no
// Required dependency fails because of it.
type UnavailableAddOn struct {
	AddOn, Reason string
	// Clusters are in ascending order.
	Clusters []string
	Began    cause.Onset
	// Shared are traits of the clusters that most of the others with the add-on do not have. Others is the number of these.
	Shared []cause.Common
	Others int
}

// Unavailable returns the add-ons of FailingThemselves by name and reason. Those on most managed clusters come first.
func (r *RootCauses) Unavailable(hub *snapshot.Snapshot) []UnavailableAddOn {
	var groups []UnavailableAddOn
	for _, failing := range r.FailingThemselves {
		index := slices.IndexFunc(groups, func(group UnavailableAddOn) bool {
			return group.AddOn == failing.AddOn && group.Reason == failing.Reason
		})
		if index < 0 {
			index = len(groups)
			groups = append(groups, UnavailableAddOn{AddOn: failing.AddOn, Reason: failing.Reason})
		}
		groups[index].Clusters = append(groups[index].Clusters, failing.Cluster)
	}
	names := hub.Names()
	traits := newTraitsFinder(len(names), func(cluster int) *clusterv1.ManagedCluster { return hub.Object(names[cluster]) })
	for i := range groups {
		groups[i].complete(hub, names, traits)
	}
	slices.SortStableFunc(groups, func(a, b UnavailableAddOn) int {
		return cmp.Or(cmp.Compare(len(b.Clusters), len(a.Clusters)), cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Reason, b.Reason))
	})
	return groups
}

// complete finds since when the add-on is not available, and what its managed clusters have in common. The traits are those of the clusters
// with these names.
func (u *UnavailableAddOn) complete(hub *snapshot.Snapshot, names []string, traits *traitsFinder) {
	slices.Sort(u.Clusters)
	moments := make([]cause.Moment, 0, len(u.Clusters))
	for _, cluster := range u.Clusters {
		addOn := hub.AddOnOn(types.NamespacedName{Namespace: cluster, Name: u.AddOn})
		moments = append(moments, cause.Moment{Cluster: cluster, Time: unavailableSince(addOn)})
	}
	u.Began = cause.FindOnset(moments)
	var affected, candidates []int
	for i, cluster := range names {
		if !hub.IsOn(cluster, u.AddOn) || hub.Lost(cluster) || isDetached(hub.Object(cluster)) {
			continue
		}
		candidates = append(candidates, i)
		if _, ok := slices.BinarySearch(u.Clusters, cluster); ok {
			affected = append(affected, i)
		}
	}
	u.Shared, u.Others = traits.compare(affected, candidates)
}
