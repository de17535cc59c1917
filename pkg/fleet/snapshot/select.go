package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Select returns the content with only the managed clusters that match. Other clusters that run agents of these stay in Hosting,
// because verdicts depend on them.
func (c Content) Select(matches func(*clusterv1.ManagedCluster) bool) Content {
	selected := sets.New[string]()
	for i := range c.Clusters {
		if matches(&c.Clusters[i]) {
			selected.Insert(c.Clusters[i].Name)
		}
	}
	hosts := sets.New[string]()
	for _, addOn := range c.AddOns {
		if host := fleet.HostingCluster(addOn); selected.Has(addOn.Namespace) && !selected.Has(host) {
			hosts.Insert(host)
		}
	}
	hosting := Hosting{
		Clusters: filtered(c.Clusters, func(cluster *clusterv1.ManagedCluster) bool { return hosts.Has(cluster.Name) }),
		AddOns:   filtered(c.AddOns, func(addOn **addonv1alpha1.ManagedClusterAddOn) bool { return hosts.Has((*addOn).Namespace) }),
		Facts:    filtered(c.Facts, func(facts *dependencyv1alpha1.ManagedClusterFacts) bool { return hosts.Has(facts.Namespace) }),
	}
	c.Hosting.Clusters = append(hosting.Clusters, c.Hosting.Clusters...)
	c.Hosting.AddOns = append(hosting.AddOns, c.Hosting.AddOns...)
	c.Hosting.Facts = append(hosting.Facts, c.Hosting.Facts...)
	c.Clusters = filtered(c.Clusters, func(cluster *clusterv1.ManagedCluster) bool { return selected.Has(cluster.Name) })
	c.AddOns = filtered(c.AddOns, func(addOn **addonv1alpha1.ManagedClusterAddOn) bool { return selected.Has((*addOn).Namespace) })
	c.Facts = filtered(c.Facts, func(facts *dependencyv1alpha1.ManagedClusterFacts) bool { return selected.Has(facts.Namespace) })
	c.Installations = filtered(c.Installations, func(o *dependencyv1alpha1.AddOnInstallation) bool { return selected.Has(o.Namespace) })
	return c
}

// filtered returns the items that are kept. It does not change the list.
func filtered[T any](items []T, keeps func(*T) bool) []T {
	return slices.DeleteFunc(slices.Clone(items), func(item T) bool { return !keeps(&item) })
}
