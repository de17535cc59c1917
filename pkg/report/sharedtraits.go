package report

import (
	"maps"
	"slices"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
)

// shared compares the affected clusters with the other clusters that have one of the victims, because the same could fail there. It
// returns the common traits, and the number of the other clusters.
func (f *finder) shared(ranked *cause.Ranked, affected []string) (shared []cause.Common, others int) {
	candidates := map[string]bool{}
	for _, victim := range ranked.Victims {
		for _, cluster := range f.installed[victim.AddOn] {
			candidates[cluster] = true
		}
	}
	var affectedTraits, unaffected []cause.Traits
	for _, cluster := range slices.Sorted(maps.Keys(candidates)) {
		if _, ok := slices.BinarySearch(affected, cluster); ok {
			affectedTraits = append(affectedTraits, f.traits[cluster])
		} else {
			unaffected = append(unaffected, f.traits[cluster])
		}
	}
	return cause.Shared(affectedTraits, unaffected), len(unaffected)
}

// uniqueTraits are the names of labels and claims whose values are unique to a cluster.
var uniqueTraits = []string{"clusterID", "name", "id.k8s.io", "id.openshift.io"}

// traitsOf returns a cluster's labels, claims and version of Kubernetes.
func traitsOf(cluster *clusterv1.ManagedCluster) cause.Traits {
	traits := cause.Traits{}
	if cluster == nil {
		return traits
	}
	add := func(kind, name, value string) {
		if value != "" && !slices.Contains(uniqueTraits, name) && !strings.HasPrefix(name, "feature.open-cluster-management.io/") {
			traits[strings.TrimSpace(kind+" "+name)] = value
		}
	}
	for name, value := range cluster.Labels {
		add("label", name, value)
	}
	for _, claim := range cluster.Status.ClusterClaims {
		add("claim", claim.Name, claim.Value)
	}
	add("Kubernetes", "", cluster.Status.Version.Kubernetes)
	return traits
}
