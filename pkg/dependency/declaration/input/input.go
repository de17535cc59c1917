// Package input names the inputs of verdicts, in addition to the add-ons that edges are on. An input that no edge of an
// add-on reads need not be loaded, and its change cannot change a verdict.
package input

// Set is a set of inputs.
type Set uint32

// The inputs.
const (
	// Labels are the labels of the ManagedCluster.
	Labels Set = 1 << iota
	// Claims are the claims of the cluster.
	Claims
	// Kubernetes is the Kubernetes version of the cluster.
	Kubernetes
	// OCM is the OCM version of the hub.
	OCM
	// AddOn is the labels and annotations of the add-on's own ManagedClusterAddOn.
	AddOn
	// Config is the variables of the add-on's AddOnDeploymentConfigs.
	Config
	// Versions are the versions of the add-ons that it depends on.
	Versions
	// Facts is the report of the cluster's agent.
	Facts
	// Template is the running AddOnTemplate of the add-on itself. It may declare the dependencies.
	Template
	// Version is the version of the add-on itself.
	Version
	// Lapses are the unavailable times of the add-ons that it depends on.
	Lapses
	// Settings are the variables of the AddOnDeploymentConfigs of the add-ons that it depends on.
	Settings
	// Placements are the clusters on which Placements install the add-ons that it depends on. They explain verdicts without
	// changing them.
	Placements
	// Policies are the overrides in AddOnDependencyPolicies.
	Policies
	// HubAPIs are the APIs that the hub serves.
	HubAPIs
	// Hosting is the cluster that runs the add-on's agent, and the report of that cluster's agent.
	Hosting
	// Consents are the Placements by which owners let Interlock install add-ons. They explain verdicts without changing
	// them.
	Consents
	// Installations are the waits of the installations of add-ons that it depends on. They explain verdicts without
	// changing them.
	Installations
	// Outcomes are the outcomes of requests for settings of add-ons that it depends on. They explain verdicts without
	// changing them.
	Outcomes
)

// Variables are the inputs that need AddOnDeploymentConfigs.
const Variables = Config | Settings

// Any reports whether both sets have a common input.
func (s Set) Any(inputs Set) bool { return s&inputs != 0 }
