package evaluation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

// OfflinePolicy is the evaluation of add-ons on an unreachable cluster.
type OfflinePolicy string

const (
	// OfflineHold keeps the last verdicts while a cluster is unreachable.
	OfflineHold OfflinePolicy = "hold"
	// OfflineStrict follows the letter of the proposal: an add-on whose Available is Unknown
	// is not available.
	OfflineStrict OfflinePolicy = "strict"
)

// SettleTime is the time that agents have for a report after their cluster has come back. OCM waits as long for
// the lease of an add-on.
const SettleTime = availability.DefaultGracePeriod

// Cluster is the state of a managed cluster on the hub. The fields from Name on are set only if an edge needs them. Times
// are by the hub's clock, because the time of a condition may be by the clock of a managed cluster.
type Cluster struct {
	// Available is the status of ManagedClusterConditionAvailable. It is empty without a ManagedCluster or without
	// the condition.
	Available metav1.ConditionStatus `json:"available,omitempty"`
	// Back is the time at which the hub saw the cluster come back. It is zero if that was long ago.
	Back time.Time `json:"back,omitzero"`
	// Returned is the transition time of the condition with which the cluster last came back, by its own clock. It is
	// zero if it is unknown.
	Returned time.Time `json:"returned,omitzero"`
	// Now is the time of the evaluation.
	Now     time.Time     `json:"now"`
	Offline OfflinePolicy `json:"offline,omitempty"`

	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	// Claims has the values of the cluster's claims by name.
	Claims map[string]string `json:"claims,omitempty"`
	// KubernetesVersion is the reported version, or empty.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// OCMVersion is the version of Open Cluster Management on the hub. It is empty if it is unknown.
	OCMVersion string `json:"ocmVersion,omitempty"`
	// OCMUnread is true if OCMVersion could not be read yet.
	OCMUnread bool `json:"ocmUnread,omitempty"`
	// Unselected has the add-ons that are not installed on the cluster because none of their Placements selects it.
	Unselected []string `json:"unselected,omitempty"`
	// PlacementsUnread is true if the decisions of Placements could not be read yet.
	PlacementsUnread bool `json:"placementsUnread,omitempty"`
	// Waits has the waits of installations, by add-on.
	Waits map[string]Wait `json:"waits,omitempty"`
	// Settings has the outcomes of requests for settings, by add-on. All requested variables are set if there is none.
	Settings map[string]settings.Outcome `json:"settings,omitempty"`
	// Facts has the report of the cluster's agent.
	Facts Facts `json:"facts,omitzero"`
	// HubAPIs has the APIs that edges require of the hub. An API that is missing in the map is not known yet.
	HubAPIs APIFacts `json:"hubAPIs,omitempty"`
	// Hosts has the other managed clusters that run agents of its add-ons, by name.
	Hosts map[string]HostingCluster `json:"hosts,omitempty"`
}

// Observation is the state of an add-on on one managed cluster.
type Observation struct {
	// Name is the name of the add-on.
	Name      string `json:"name"`
	Installed bool   `json:"installed,omitempty"`
	// Created and Removed are the creation time and the deletion time of its ManagedClusterAddOn.
	Created time.Time `json:"created,omitzero"`
	Removed time.Time `json:"removed,omitzero"`
	// Available and Degraded are the add-on's conditions of these types, or nil.
	Available *metav1.Condition `json:"available,omitempty"`
	Degraded  *metav1.Condition `json:"degraded,omitempty"`
	// LossObserved is the time at which the hub first observed the Available that the loss of the cluster left. It is used only if
	// availability.ClusterLost is true of Available.
	LossObserved time.Time `json:"found,omitzero"`
	// Lapse is its unavailability. It is set only if an edge tolerates unavailability.
	Lapse Lapse `json:"lapse,omitzero"`
	// Version is the version annotation of the ManagedClusterAddOn, and FormerVersion the annotation with the
	// former key.
	Version       string `json:"version,omitempty"`
	FormerVersion string `json:"formerVersion,omitempty"`
	// Template has the versions of its AddOnTemplates.
	Template versions.Templates `json:"template,omitzero"`
	// HostingCluster is another managed cluster that runs its agent. It is empty if the agent runs on its own
	// cluster, or if no edge needs it.
	HostingCluster string `json:"hostingCluster,omitempty"`

	// The rest is only read for the conditions of the add-on's own edges.

	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Config has the customizedVariables of the AddOnDeploymentConfig that addon-framework uses for the add-on.
	Config map[string]string `json:"config,omitempty"`
	// ConfigUnread is true if Config could not be read yet.
	ConfigUnread bool `json:"configUnread,omitempty"`
}

// Lost reports whether the cluster is unreachable, so that no new state of its add-ons can be observed.
func (c *Cluster) Lost() bool {
	return c.Offline == OfflineHold && c.Available == metav1.ConditionUnknown
}

// settling reports whether the add-on's agent may still report after a loss of the cluster. The ManagedCluster itself may
// not show that loss yet. Without a ManagedCluster, no verdict is held.
func (c *Cluster) settling(observed *Observation) bool {
	return c.Offline == OfflineHold && c.Available != "" && availability.ClusterLost(observed.Available) && c.Now.Before(c.settled(observed))
}

// settled returns the time from which an agent without a report counts as silent.
func (c *Cluster) settled(observed *Observation) time.Time {
	return Later(c.Back, observed.LossObserved).Add(SettleTime)
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
