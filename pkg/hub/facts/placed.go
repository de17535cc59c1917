package facts

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
)

// clusterAddOns has the add-ons that may need facts of one managed cluster.
type clusterAddOns struct {
	// local has the add-ons that are installed on the cluster. hosting has the add-ons of other clusters whose agents it runs.
	local, hosting []types.NamespacedName
	catalog.Installed
}

// keys returns the keys of all add-ons.
func (a clusterAddOns) keys() []types.NamespacedName { return slices.Concat(a.local, a.hosting) }

// loadAddOns reads the add-ons of a cluster. It omits hosted add-ons of a cluster that is not registered, or has no namespace
// yet, because the annotation of an add-on can name any cluster.
func loadAddOns(ctx context.Context, reader hubcache.Reader, cluster string) (clusterAddOns, error) {
	var addOns clusterAddOns
	local, err := reader.AddOnsOn(ctx, cluster)
	if err != nil {
		return clusterAddOns{}, err
	}
	for i := range local {
		addOns.local = append(addOns.local, keyOf(&local[i]))
		fleet.Place(&local[i], cluster, &addOns.Installed)
	}
	hosting, err := reader.Hosting(ctx, cluster)
	if err != nil || len(hosting) == 0 {
		return addOns, err
	}
	object, err := reader.Cluster(ctx, cluster)
	if err != nil || object == nil || fleet.ClusterStatus(object) == "" {
		return addOns, err
	}
	for i := range hosting {
		addOns.hosting = append(addOns.hosting, keyOf(&hosting[i]))
		fleet.Place(&hosting[i], cluster, &addOns.Installed)
	}
	return addOns, nil
}

func keyOf(addOn *addonv1alpha1.ManagedClusterAddOn) types.NamespacedName {
	return types.NamespacedName{Namespace: addOn.Namespace, Name: addOn.Name}
}

// needsOf returns the facts of the cluster that an add-on may need.
func needsOf(c *catalog.Catalog, addOn types.NamespacedName, cluster string) needs {
	if addOn.Namespace != cluster {
		return c.RequestsOf(catalog.Installed{Hosting: []string{addOn.Name}})
	}
	return c.Requests(addOn.Name)
}
