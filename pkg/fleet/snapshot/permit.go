package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Permissions are the parts of a hub that a user may read. A user may read the registered add-ons, or nothing.
type Permissions struct {
	// Clusters has the managed clusters whose object and add-ons the user may read. It is nil for all of them.
	Clusters sets.Set[string]
	// Each of these is whether the user may read all objects of a kind: of the whole hub, or in the namespaces of the Clusters.
	Policies, Templates, Configs, Placements, Decisions, Facts, Installations bool
	// OCM is whether the user may read the version of Open Cluster Management.
	OCM bool
	// Manager is whether the user may read the lease of addon-manager.
	Manager bool
}

// Hidden has the parts of a hub that a content leaves out. Verdicts that depend on them are unknown.
type Hidden struct {
	// Clusters is true if the hub may have further managed clusters.
	Clusters bool

	Templates, Configs, Facts bool
}

// Reasons why a part of a content is unknown.
const (
	noRightPolicies = `no right to list addondependencypolicies in API group "dependency.addon.open-cluster-management.io"`
	noRightOCM      = `no right to get the CustomResourceDefinition of managedclusters`
	noRightManager  = "no right to list the lease of its leader"
)

// Permit returns the content as a user with these permissions may read it. No part of another managed cluster stays: a cluster that hosts
// agents of a permitted one is unknown too, unless it is permitted.
func (c Content) Permit(user Permissions) Content {
	if user.Clusters != nil {
		c = c.Select(func(cluster *clusterv1.ManagedCluster) bool { return user.Clusters.Has(cluster.Name) })
		c.Hosting, c.Hidden.Clusters = Hosting{}, true
		c.Decisions = decisionsOn(user.Clusters, c.Decisions)
	}
	if !user.Policies {
		c.Policies, c.PoliciesUnread = nil, noRightPolicies
	}
	if !user.Templates {
		c.Templates, c.Hidden.Templates = nil, true
	}
	if !user.Configs {
		c.Configs, c.Hidden.Configs = nil, true
	}
	if !user.Facts {
		c.Facts, c.Hosting.Facts, c.Hidden.Facts = nil, nil, true
	}
	if !user.Installations {
		c.Installations = nil
	}
	if !user.Placements {
		c.Placements, c.PlacementsRead = nil, false
	}
	if !user.Decisions {
		c.Decisions, c.DecisionsRead = nil, false
	}
	if !user.OCM {
		c.OCMVersion, c.OCMVersionUnread = "", noRightOCM
	}
	if !user.Manager {
		c.Manager = &Manager{Unread: noRightManager}
	}
	return c
}

// decisionsOn returns the decisions with only these managed clusters. It does not change the list.
func decisionsOn(clusters sets.Set[string], decisions []clusterv1beta1.PlacementDecision) []clusterv1beta1.PlacementDecision {
	decisions = slices.Clone(decisions)
	for i := range decisions {
		decisions[i].Status.Decisions = filtered(decisions[i].Status.Decisions, func(decision *clusterv1beta1.ClusterDecision) bool {
			return clusters.Has(decision.ClusterName)
		})
	}
	return decisions
}
