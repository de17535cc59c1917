package hubcache

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/jsonprune"
)

// unread are the members and conditions of add-ons and clusters that are most of what
// the API server sends, and that the transforms of the cache would strip. In a watch
// event, the object has the name object.
var unread = map[string]jsonprune.Drop{
	// Its numbers may be too large for OCM's types. Then no registration could be decoded.
	"clustermanagementaddons": {Members: []jsonprune.Member{
		{Object: "spec", Name: "installStrategy"},
		{Object: "metadata", Name: "managedFields"},
	}},
	"managedclusteraddons": {Members: []jsonprune.Member{
		{Object: "object", Name: "spec"},
		{Object: "metadata", Name: "creationTimestamp"},
		{Object: "metadata", Name: "finalizers"},
		{Object: "metadata", Name: "generation"},
		{Object: "metadata", Name: "managedFields"},
		{Object: "metadata", Name: "ownerReferences"},
		{Object: "status", Name: "addOnConfiguration"},
		{Object: "status", Name: "addOnMeta"},
		{Object: "status", Name: "healthCheck"},
		{Object: "status", Name: "namespace"},
		{Object: "status", Name: "registrations"},
		{Object: "status", Name: "relatedObjects"},
		{Object: "status", Name: "supportedConfigs"},
	}, Elements: []jsonprune.Elements{
		{Array: "conditions", Member: "type", Keep: []string{addonv1alpha1.ManagedClusterAddOnConditionAvailable, addonv1alpha1.ManagedClusterAddOnConditionDegraded}},
		{Array: "configReferences", Member: "resource", Keep: []string{fleet.ResourceConfig, fleet.ResourceTemplate}},
	}},
	"managedclusters": {Members: []jsonprune.Member{
		{Object: "object", Name: "spec"},
		{Object: "metadata", Name: "managedFields"},
		{Object: "status", Name: "allocatable"},
		{Object: "status", Name: "capacity"},
	}, Elements: []jsonprune.Elements{
		{Array: "conditions", Member: "type", Keep: []string{clusterv1.ManagedClusterConditionAvailable}},
	}},
}

// New makes a cache whose watches do not decode what it would strip. An event then
// takes 36 µs and 5.7 kB of garbage, instead of 49 µs and 10.3 kB (BenchmarkDecode).
// It has the signature that a manager wants.
func New(config *rest.Config, options cache.Options) (cache.Cache, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &jsonprune.Transport{Next: next, Drop: unread}
	})
	var err error
	if options.HTTPClient, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("create client of the cache: %w", err)
	}
	return cache.New(config, options)
}
