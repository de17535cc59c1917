// Package input names what verdicts can depend on, besides the add-ons that edges
// are on. What no edge of an add-on reads need not be loaded. Its change cannot
// change a verdict.
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
	// AddOn is labels and annotations of the add-on's own ManagedClusterAddOn.
	AddOn
	// Config is the variables of the add-on's AddOnDeploymentConfigs.
	Config
	// Versions are the versions of the add-ons that it depends on.
	Versions
	// Facts is what the agent of the cluster reports.
	Facts
	// Template is which AddOnTemplate of the add-on itself runs: it may declare what the
	// add-on depends on.
	Template
	// Version is the version of the add-on itself.
	Version
	// Lapses is since when the add-ons that it depends on are not available.
	Lapses
	// Settings are the variables of the AddOnDeploymentConfigs of the add-ons that it depends on.
	Settings
	// Placements are the clusters on which Placements install the add-ons that it depends on.
	// They explain verdicts, and change none.
	Placements
	// Policies are what AddOnDependencyPolicies override.
	Policies
	// HubAPIs are the APIs that the hub serves.
	HubAPIs
	// Hosting is which cluster runs the add-on's agent, and what the agent of that cluster reports.
	Hosting
	// Consents are the Placements by which owners let Interlock install add-ons. They explain verdicts, and change none.
	Consents
	// Installations are what the installations of the add-ons wait for that it depends on. They explain verdicts, and change none.
	Installations
)

// Variables are what AddOnDeploymentConfigs are read for.
const Variables = Config | Settings

// Any reports whether the set has one of the given inputs.
func (s Set) Any(of Set) bool { return s&of != 0 }
