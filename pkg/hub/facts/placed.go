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

// placed are the add-ons that may need to know something of one managed cluster.
type placed struct {
	// there are installed on the cluster, and hosting on others: the cluster runs their agents.
	there, hosting []types.NamespacedName
	catalog.Installed
}

// all are the keys of all add-ons.
func (p placed) all() []types.NamespacedName { return slices.Concat(p.there, p.hosting) }

// placedOn reads the add-ons of a cluster. An annotation can name any cluster. Nothing is requested of one that is not
// registered, or has no namespace yet.
func placedOn(ctx context.Context, of hubcache.Reader, cluster string) (placed, error) {
	var found placed
	there, err := of.AddOnsOn(ctx, cluster)
	if err != nil {
		return placed{}, err
	}
	for i := range there {
		found.there = append(found.there, keyOf(&there[i]))
		fleet.Place(&there[i], cluster, &found.Installed)
	}
	hosting, err := of.Hosting(ctx, cluster)
	if err != nil || len(hosting) == 0 {
		return found, err
	}
	object, err := of.Cluster(ctx, cluster)
	if err != nil || object == nil || fleet.ClusterStatus(object) == "" {
		return found, err
	}
	for i := range hosting {
		found.hosting = append(found.hosting, keyOf(&hosting[i]))
		fleet.Place(&hosting[i], cluster, &found.Installed)
	}
	return found, nil
}

func keyOf(addOn *addonv1alpha1.ManagedClusterAddOn) types.NamespacedName {
	return types.NamespacedName{Namespace: addOn.Namespace, Name: addOn.Name}
}

// neededOf returns what one of the add-ons may need to know of the cluster.
func neededOf(declared *catalog.Catalog, addOn types.NamespacedName, cluster string) needs {
	if addOn.Namespace != cluster {
		return declared.RequestsOf(catalog.Installed{Hosting: []string{addOn.Name}})
	}
	return declared.Requests(addOn.Name)
}
