// Package access decides which parts of a fleet a viewer may see, from the rights that the viewer has on the hub.
package access

import (
	"fmt"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// Right is a right on a kind of objects.
type Right struct {
	Verb, Group, Resource string
	// Namespace is empty for all namespaces, and Name for all names.
	Namespace, Name string
}

// String returns the right as `kubectl auth can-i` has it, with its API group.
func (r Right) String() string {
	text := fmt.Sprintf("%s %s in API group %q", r.Verb, r.Resource, r.Group)
	if r.Name != "" {
		text += " named " + r.Name
	}
	return text
}

// Rights on objects of the whole hub.
var (
	listRegistrations = list(addonv1alpha1.GroupVersion.Group, "clustermanagementaddons")
	listAddOns        = list(addonv1alpha1.GroupVersion.Group, "managedclusteraddons")
	listConfigs       = list(addonv1alpha1.GroupVersion.Group, "addondeploymentconfigs")
	listTemplates     = list(addonv1alpha1.GroupVersion.Group, "addontemplates")
	listClusters      = list(clusterv1.GroupName, "managedclusters")
	listPlacements    = list(clusterv1.GroupName, "placements")
	listDecisions     = list(clusterv1.GroupName, "placementdecisions")
	listPolicies      = list(dependencyv1alpha1.GroupVersion.Group, "addondependencypolicies")
	listInstallations = list(dependencyv1alpha1.GroupVersion.Group, "addoninstallations")
	listFacts         = list(dependencyv1alpha1.GroupVersion.Group, "managedclusterfacts")
	getOCM            = Right{Verb: "get", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: fleet.OCMVersionCRD}
	listLease         = Right{Verb: "list", Group: "coordination.k8s.io", Resource: "leases", Name: names.AddonManager}
)

// getCluster is the right on a single managed cluster, whose name it lacks.
var getCluster = Right{Verb: "get", Group: clusterv1.GroupName, Resource: "managedclusters"}

func list(group, resource string) Right { return Right{Verb: "list", Group: group, Resource: resource} }

// in returns the right in a namespace.
func (r Right) in(namespace string) Right {
	r.Namespace = namespace
	return r
}

// named returns the right on an object of that name.
func (r Right) named(name string) Right {
	r.Name = name
	return r
}

// OnCluster reports whether the right is on a single managed cluster, or on its namespace.
func (r Right) OnCluster() bool {
	return r.Namespace != "" || r.Resource == getCluster.Resource && r.Name != ""
}
