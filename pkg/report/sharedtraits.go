package report

import (
	"slices"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
)

// traitsFinder finds what managed clusters have in common. It finds the traits of each cluster once.
type traitsFinder struct {
	// object returns the managed cluster at a place of a list. It may be nil.
	object func(cluster int) *clusterv1.ManagedCluster
	// found has the traits of the clusters of the list. Those that were not needed yet are nil.
	found []cause.Traits
}

func newTraitsFinder(clusters int, object func(cluster int) *clusterv1.ManagedCluster) *traitsFinder {
	return &traitsFinder{object: object, found: make([]cause.Traits, clusters)}
}

func (t *traitsFinder) traits(cluster int) cause.Traits {
	if t.found[cluster] == nil {
		t.found[cluster] = traitsOf(t.object(cluster))
	}
	return t.found[cluster]
}

// compare compares the affected clusters with the other candidates, because the same could fail there. Candidates and affected clusters are
// places of the list. It returns the common traits, and the number of the other clusters.
func (t *traitsFinder) compare(affected []int, candidates ...[]int) (shared []cause.Common, others int) {
	isOther := make([]bool, len(t.found))
	for _, list := range candidates {
		for _, cluster := range list {
			isOther[cluster] = true
		}
	}
	affectedTraits, otherTraits := make([]cause.Traits, 0, len(affected)), []cause.Traits(nil)
	for _, cluster := range affected {
		isOther[cluster] = false
		affectedTraits = append(affectedTraits, t.traits(cluster))
	}
	for cluster, other := range isOther {
		if other {
			otherTraits = append(otherTraits, t.traits(cluster))
		}
	}
	return cause.Shared(affectedTraits, otherTraits), len(otherTraits)
}

// shared compares the affected clusters with the other clusters that have one of the victims.
func (f *finder) shared(ranked *cause.Ranked, clusters []string) (shared []cause.Common, others int) {
	var candidates [][]int
	counted := map[string]bool{}
	for _, victim := range ranked.Victims {
		if !counted[victim.AddOn] {
			counted[victim.AddOn] = true
			candidates = append(candidates, f.installed[victim.AddOn])
		}
	}
	affected := make([]int, 0, len(clusters))
	for _, cluster := range clusters {
		affected = append(affected, f.places[cluster])
	}
	return f.traits.compare(affected, candidates...)
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
