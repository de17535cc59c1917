package hubcache

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Reader reads the fleet from the cache. Objects that it returns must not be changed.
type Reader struct {
	fleet.Objects
}

// NewReader returns a reader of a cache.
func NewReader(cache client.Reader) Reader { return Reader{fleet.Objects{Reader: cache}} }

// Installed returns the keys of the add-ons with a name on all clusters.
func (r Reader) Installed(ctx context.Context, addOn string) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.MatchingFields{IndexName: addOn})
}

// OnCluster returns the keys of all add-ons on one managed cluster.
func (r Reader) OnCluster(ctx context.Context, cluster string) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.InNamespace(cluster))
}

// Configured returns the keys of all add-ons that refer to an AddOnDeploymentConfig.
func (r Reader) Configured(ctx context.Context, config types.NamespacedName) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.MatchingFields{IndexConfig: config.String()})
}

// Templated returns the keys of all add-ons that run, roll out or wait for an AddOnTemplate.
func (r Reader) Templated(ctx context.Context, template string) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.MatchingFields{IndexTemplate: template})
}

// Hosting returns the add-ons of other managed clusters whose agents run on a managed cluster.
func (r Reader) Hosting(ctx context.Context, cluster string) ([]addonv1alpha1.ManagedClusterAddOn, error) {
	return r.list(ctx, client.MatchingFields{IndexHosting: cluster})
}

// AddOnsOn returns all add-ons on one managed cluster.
func (r Reader) AddOnsOn(ctx context.Context, cluster string) ([]addonv1alpha1.ManagedClusterAddOn, error) {
	return r.list(ctx, client.InNamespace(cluster))
}

// Hosts returns the managed clusters that run agents of an add-on for other clusters, in ascending order.
func (r Reader) Hosts(ctx context.Context, addOn string) ([]string, error) {
	addOns, err := r.list(ctx, client.MatchingFields{IndexName: addOn})
	var hosts []string
	for i := range addOns {
		hosts = append(hosts, HostingClusters(&addOns[i])...)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), err
}

func (r Reader) list(ctx context.Context, option client.ListOption) ([]addonv1alpha1.ManagedClusterAddOn, error) {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := r.List(ctx, &list, option); err != nil {
		return nil, fmt.Errorf("list managed cluster add-ons: %w", err)
	}
	return list.Items, nil
}

func (r Reader) keys(ctx context.Context, option client.ListOption) ([]types.NamespacedName, error) {
	items, err := r.list(ctx, option)
	if err != nil {
		return nil, err
	}
	keys := make([]types.NamespacedName, 0, len(items))
	for i := range items {
		keys = append(keys, client.ObjectKeyFromObject(&items[i]))
	}
	return keys, nil
}
