package hubcache

import (
	"fmt"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/jsonprune"
	"open-cluster-management.io/interlock/pkg/names"
)

// members maps members of a JSON object to the parts that are dropped.
type members = map[string]*jsonprune.Drop

// unread has the members and conditions of add-ons and clusters that the transforms of the cache
// would strip. They are most of the data that the API server sends.
var unread = members{
	"managedclusteraddons": {Members: members{
		"spec": nil,
		"metadata": {Members: members{
			"finalizers": nil, "ownerReferences": nil, "managedFields": keepOnly("manager", names.AddonManager),
		}},
		"status": {Members: members{
			"addOnConfiguration": nil, "addOnMeta": nil, "namespace": nil, "registrations": nil,
			"supportedConfigs": nil,
			"conditions":       keepOnly("type", fleet.AddOnConditions()...),
			"configReferences": keepOnly("resource", fleet.ResourceConfig, fleet.ResourceTemplate),
			"relatedObjects":   keepOnly("resource", fleet.ResourceTemplate),
		}},
	}},
	"managedclusters": {Members: members{
		"spec":     nil,
		"metadata": {Members: members{"managedFields": nil}},
		"status": {Members: members{
			"allocatable": nil, "capacity": nil, "conditions": keepOnly("type", clusterv1.ManagedClusterConditionAvailable),
		}},
	}},
}

// keepOnly keeps the elements of an array whose member is in the values.
func keepOnly(member string, values ...string) *jsonprune.Drop {
	drop := &jsonprune.Drop{}
	for _, value := range values {
		drop.Keep = append(drop.Keep, fmt.Appendf(nil, "%q:%q", member, value))
	}
	return drop
}
