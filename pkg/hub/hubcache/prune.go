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

// members are what to drop of the members of an object.
type members = map[string]*jsonprune.Drop

// unread are the members and conditions of add-ons and clusters that are most of what
// the API server sends, and that the transforms of the cache would strip. In a watch
// event, the object has the name object.
var unread = members{
	// Its numbers may be too large for OCM's types. Then no registration could be decoded.
	"clustermanagementaddons": {Members: members{"object": {Members: members{
		"spec":     {Members: members{"installStrategy": nil}},
		"metadata": {Members: members{"managedFields": nil}},
	}}}},
	"managedclusteraddons": {Members: members{"object": {Members: members{
		"spec": nil,
		"metadata": {Members: members{
			"creationTimestamp": nil, "finalizers": nil, "generation": nil, "managedFields": nil, "ownerReferences": nil,
		}},
		"status": {Members: members{
			"addOnConfiguration": nil, "addOnMeta": nil, "healthCheck": nil, "namespace": nil, "registrations": nil,
			"relatedObjects": nil, "supportedConfigs": nil,
			"conditions":       with("type", addonv1alpha1.ManagedClusterAddOnConditionAvailable, addonv1alpha1.ManagedClusterAddOnConditionDegraded),
			"configReferences": with("resource", fleet.ResourceConfig, fleet.ResourceTemplate),
		}},
	}}}},
	"managedclusters": {Members: members{"object": {Members: members{
		"spec":     nil,
		"metadata": {Members: members{"managedFields": nil}},
		"status": {Members: members{
			"allocatable": nil, "capacity": nil, "conditions": with("type", clusterv1.ManagedClusterConditionAvailable),
		}},
	}}}},
}

// with keeps those elements of an array whose member has one of the values.
func with(member string, values ...string) *jsonprune.Drop {
	drop := &jsonprune.Drop{}
	for _, value := range values {
		drop.Keep = append(drop.Keep, fmt.Appendf(nil, "%q:%q", member, value))
	}
	return drop
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
