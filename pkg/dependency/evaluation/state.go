package evaluation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// OfflinePolicy says what becomes of the verdicts on an unreachable cluster.
type OfflinePolicy string

const (
	// OfflineHold keeps the last verdicts while a cluster is unreachable.
	OfflineHold OfflinePolicy = "hold"
	// OfflineStrict is the letter of the proposal: an add-on that is Unknown
	// is not available.
	OfflineStrict OfflinePolicy = "strict"
)

// SettleTime is how long after its return a cluster's agents may take to
// report: as long as OCM lets an add-on be silent before it is not available.
const SettleTime = availability.DefaultGracePeriod

// Cluster is what the hub knows of a managed cluster. All but the first four
// fields only matter to edges that use them. Moments are by the hub's clock: a
// condition's time may be by the clock of a managed cluster.
type Cluster struct {
	// Available is the status of ManagedClusterConditionAvailable, empty
	// where the ManagedCluster or the condition does not exist.
	Available metav1.ConditionStatus `json:"available,omitempty"`
	// Back is when the hub saw the cluster come back; zero: long ago.
	Back time.Time `json:"back,omitzero"`
	// Returned is the time of the condition with which the cluster last came back, by its own clock; zero: not known.
	Returned time.Time `json:"returned,omitzero"`
	// Now is the time of the evaluation.
	Now     time.Time     `json:"now"`
	Offline OfflinePolicy `json:"offline,omitempty"`

	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	// Claims are the values of the cluster's claims by name.
	Claims map[string]string `json:"claims,omitempty"`
	// KubernetesVersion is as the cluster reports it; empty where it has not.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// OCMVersion is that of the hub; empty where it is not known.
	OCMVersion string `json:"ocmVersion,omitempty"`
	// OCMUnread: it could not be read yet.
	OCMUnread bool `json:"ocmUnread,omitempty"`
	// Unselected are add-ons that are not installed on the cluster because none of their
	// Placements selects it.
	Unselected []string `json:"unselected,omitempty"`
	// PlacementsUnread: which clusters Placements select could not be read yet.
	PlacementsUnread bool `json:"placementsUnread,omitempty"`
	// Waits are what installations wait for, by add-on.
	Waits map[string]Wait `json:"waits,omitempty"`
	// Facts is what the cluster's agent has reported.
	Facts Facts `json:"facts,omitzero"`
	// HubAPIs are the APIs that edges require of the hub. What is not in the map is not known yet.
	HubAPIs APIFacts `json:"hubAPIs,omitempty"`
	// Hosts are the other managed clusters that run agents of its add-ons, by name.
	Hosts map[string]HostingCluster `json:"hosts,omitempty"`
}

// Observation is what the hub knows of one add-on on one managed cluster.
type Observation struct {
	// Name of the add-on.
	Name      string `json:"name"`
	Installed bool   `json:"installed,omitempty"`
	// Created is when its ManagedClusterAddOn was created, Removed since when that is being
	// deleted.
	Created time.Time `json:"created,omitzero"`
	Removed time.Time `json:"removed,omitzero"`
	// Available and Degraded are the add-on's conditions of these types, nil
	// when it has none.
	Available *metav1.Condition `json:"available,omitempty"`
	Degraded  *metav1.Condition `json:"degraded,omitempty"`
	// Found is when the hub first saw Available as the loss of the cluster left
	// it. It matters only where availability.ClusterLost is true of Available.
	Found time.Time `json:"found,omitzero"`
	// Lapse is since when it is not available; only where an edge tolerates that.
	Lapse Lapse `json:"lapse,omitzero"`
	// Version is the version annotation of the ManagedClusterAddOn, FormerVersion
	// the one under its former key.
	Version       string `json:"version,omitempty"`
	FormerVersion string `json:"formerVersion,omitempty"`
	// Template has the versions of its AddOnTemplates.
	Template versions.Templates `json:"template,omitzero"`
	// HostingCluster is the other managed cluster that runs its agent; empty: its own one does. It is
	// only read where edges need it.
	HostingCluster string `json:"hostingCluster,omitempty"`

	// The rest is only read for the conditions of the add-on's own edges.

	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Config are the customizedVariables of the AddOnDeploymentConfig that
	// addon-framework gives the add-on.
	Config map[string]string `json:"config,omitempty"`
	// ConfigUnread: they could not be read yet.
	ConfigUnread bool `json:"configUnread,omitempty"`
}

// Lost reports whether nothing new can be known of the cluster's add-ons.
func (c *Cluster) Lost() bool {
	return c.Offline == OfflineHold && c.Available == metav1.ConditionUnknown
}

// settling reports whether the add-on's agent may still report after a loss of
// the cluster. The ManagedCluster itself may not show that loss yet. Without a
// ManagedCluster nothing is held.
func (c *Cluster) settling(observed *Observation) bool {
	return c.Offline == OfflineHold && c.Available != "" && availability.ClusterLost(observed.Available) && c.Now.Before(c.settled(observed))
}

// settled is when an agent that has not reported is taken for one that will not.
func (c *Cluster) settled(observed *Observation) time.Time {
	return Later(c.Back, observed.Found).Add(SettleTime)
}

// Later returns the later of two moments.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
