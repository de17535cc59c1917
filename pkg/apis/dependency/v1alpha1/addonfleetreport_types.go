package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FleetReportName is the name of the only AddOnFleetReport of a hub.
const FleetReportName = "fleet"

// Limits of the schema. An object that exceeds a limit is refused as a whole.
const (
	// MaxFleetCauses is the highest number of root causes in a report on the fleet.
	MaxFleetCauses = 20
	// MaxFleetEdges is the highest number of edges in a report on the fleet, and MaxFleetWaits that of waits.
	MaxFleetEdges = 1024
	MaxFleetWaits = 64
	// MaxFleetVictims is the highest number of add-ons in a root cause, and of edges in a wait.
	MaxFleetVictims = 10
	// MaxFleetExamples is the highest number of managed clusters that a root cause or a wait names.
	MaxFleetExamples = 3
	// MaxFleetTraits is the highest number of shared traits of a root cause.
	MaxFleetTraits = 3
	// MaxFleetProviders is the highest number of providers of an API.
	MaxFleetProviders = 4
	// MaxFleetStates is the highest number of states of unexplained add-ons. There are fewer.
	MaxFleetStates = 16
	// MaxFleetUnusable is the highest number of declarations that cannot be used.
	MaxFleetUnusable = 16
	// MaxVerdictCounts is the highest number of verdicts of an edge. There are fewer.
	MaxVerdictCounts = 32
)

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=addonfleetreports,singular=addonfleetreport,categories=ocm
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'fleet'",message="the only AddOnFleetReport is named fleet"
// +kubebuilder:printcolumn:name="Clusters",type=integer,JSONPath=`.summary.clusters`,description="How many managed clusters can be reached"
// +kubebuilder:printcolumn:name="Lost",type=integer,JSONPath=`.summary.lost`,description="How many managed clusters cannot be reached"
// +kubebuilder:printcolumn:name="Add-ons",type=integer,JSONPath=`.summary.addOns`,description="How many add-ons with dependencies are on clusters that can be reached"
// +kubebuilder:printcolumn:name="Root causes",type=integer,JSONPath=`.summary.rootCauses`,description="How many root causes keep add-ons from working"
// +kubebuilder:printcolumn:name="Top cause",type=string,JSONPath=`.rootCauses[0].title`,description="What breaks most"
// +kubebuilder:printcolumn:name="Observed",type=date,JSONPath=`.observed`,description="Since when this is the state of the fleet"

// AddOnFleetReport is the state of the dependencies between the add-ons of all managed clusters. There is one, with the name
// fleet. addon-manager --reports writes it. kubectl addon why and kubectl addon status --summary read it.
type AddOnFleetReport struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// observed is the time at which addon-manager first observed this state. A report that does not change keeps it.
	// +required
	Observed metav1.Time `json:"observed,omitempty,omitzero"`

	// summary counts managed clusters, add-ons and root causes, including those that are left out.
	// +required
	Summary FleetSummary `json:"summary"`

	// rootCauses are the causes that keep add-ons from working. The cause that breaks add-ons on most clusters comes first.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	RootCauses []FleetCause `json:"rootCauses,omitempty"`

	// unexplained are the add-ons that do not work although no dependency is known to fail, by their state.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Unexplained []UnexplainedAddOns `json:"unexplained,omitempty"`

	// unusable are declarations that cannot be used, so their dependencies are not known.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Unusable []UnusableDeclaration `json:"unusable,omitempty"`

	// waiting are the installations and upgrades that wait for dependencies. Waits on most clusters come first.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Waiting []FleetWait `json:"waiting,omitempty"`

	// edges are the dependencies and requirements of all add-ons, each with the number of clusters by verdict. They are
	// ordered by add-on, dependency and type.
	// +optional
	// +kubebuilder:validation:MaxItems=1024
	// +listType=atomic
	Edges []FleetEdge `json:"edges,omitempty"`
}

// FleetSummary counts the managed clusters, add-ons and root causes of a fleet.
type FleetSummary struct {
	// clusters is the number of managed clusters that can be reached.
	// +required
	// +kubebuilder:validation:Minimum=0
	Clusters int32 `json:"clusters"`

	// lost is the number of managed clusters that cannot be reached.
	// +required
	// +kubebuilder:validation:Minimum=0
	Lost int32 `json:"lost"`

	// detached is the number of managed clusters that are being detached from the hub. They count neither as clusters nor as
	// lost.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Detached int32 `json:"detached,omitempty"`

	// addOns is the number of add-ons that are installed on clusters that can be reached, and declare dependencies or
	// requirements.
	// +required
	// +kubebuilder:validation:Minimum=0
	AddOns int32 `json:"addOns"`

	// rootCauses is the number of root causes.
	// +required
	// +kubebuilder:validation:Minimum=0
	RootCauses int32 `json:"rootCauses"`

	// leftOut counts the entries that are missing, because the report would be too large.
	// +optional
	LeftOut LeftOut `json:"leftOut,omitempty,omitzero"`
}

// LeftOut counts the entries that lists of a report lack.
type LeftOut struct {
	// rootCauses is the number of entries that rootCauses lacks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RootCauses int32 `json:"rootCauses,omitempty"`

	// unusable is the number of entries that unusable lacks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Unusable int32 `json:"unusable,omitempty"`

	// waiting is the number of entries that waiting lacks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Waiting int32 `json:"waiting,omitempty"`

	// edges is the number of entries that edges lacks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Edges int32 `json:"edges,omitempty"`
}

// UnexplainedState is the state of an add-on that does not work although no dependency is known to fail.
// +kubebuilder:validation:Enum=FailingThemselves;Removing;Gated;Undecided;Outdated;LastKnown
type UnexplainedState string

// The states of unexplained add-ons.
const (
	// FailingThemselves: add-ons that are not available, although no dependency fails.
	FailingThemselves UnexplainedState = "FailingThemselves"
	// Removing: add-ons that are being removed, and are no root cause.
	Removing UnexplainedState = "Removing"
	// Undecided: add-ons with dependencies whose verdict is held, while none is known to fail.
	Undecided UnexplainedState = "Undecided"
	// Gated: add-ons that are not installed yet, because their gate is closed.
	Gated UnexplainedState = "Gated"
	// Outdated: add-ons whose conditions report a failing dependency, although all dependencies are satisfied.
	Outdated UnexplainedState = "Outdated"
	// LastKnown: add-ons whose conditions report a failing dependency, while nothing new is known.
	LastKnown UnexplainedState = "LastKnown"
)

// UnexplainedAddOns are add-ons with the same state.
type UnexplainedAddOns struct {
	// state is FailingThemselves, Removing, Gated, Undecided, Outdated or LastKnown.
	// +required
	State UnexplainedState `json:"state,omitempty"`

	// addOns is the number of add-ons. An add-on counts on each cluster.
	// +required
	// +kubebuilder:validation:Minimum=1
	AddOns int32 `json:"addOns,omitempty"`

	// addOn is the name of one of them.
	// +required
	// +kubebuilder:validation:MaxLength=256
	AddOn string `json:"addOn"`

	// cluster is the managed cluster of that one.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Cluster string `json:"cluster"`

	// reason is the reason of its condition Available or Degraded. For a closed gate, it is the message of Installable. For
	// an undecided add-on, it has the names of dependencies. For one that is being removed, it says since when.
	// +optional
	// +kubebuilder:validation:MaxLength=768
	Reason string `json:"reason,omitempty"`
}

// UnusableDeclaration is a declaration that cannot be used.
type UnusableDeclaration struct {
	// addOn is the add-on that declares it.
	// +required
	// +kubebuilder:validation:MaxLength=256
	AddOn string `json:"addOn"`

	// problem is the problem of the declaration.
	// +required
	// +kubebuilder:validation:MaxLength=768
	Problem string `json:"problem"`
}

// FleetWait is an installation or an upgrade that waits for dependencies, on several managed clusters.
type FleetWait struct {
	// addOn is the add-on.
	// +required
	// +kubebuilder:validation:MaxLength=256
	AddOn string `json:"addOn"`

	// kind is Installation or Upgrade.
	// +required
	Kind WaitKind `json:"kind"`

	// template is the AddOnTemplate that waits. An installation may have none.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Template string `json:"template,omitempty"`

	// version is the version of template. It is empty for a template without a version.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// since is the time at which the first of the waits began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// clusters is the number of managed clusters on which it waits.
	// +required
	// +kubebuilder:validation:Minimum=1
	Clusters int32 `json:"clusters,omitempty"`

	// examples are the names of some of these clusters.
	// +optional
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=atomic
	Examples []string `json:"examples,omitempty"`

	// dependencies are the edges and requirements that it waits for, each with its number of clusters, ordered by name. The
	// list has the first 10 of them.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	Dependencies []AwaitedDependency `json:"dependencies,omitempty"`
}

// AwaitedDependency is an edge or a requirement that installations or upgrades wait for.
type AwaitedDependency struct {
	// dependency is the name of the edge, or of the requirement.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Dependency string `json:"dependency"`

	// clusters is the number of managed clusters on which they wait for it.
	// +required
	// +kubebuilder:validation:Minimum=1
	Clusters int32 `json:"clusters,omitempty"`
}

// FleetEdge is an edge or a requirement, with the number of managed clusters by verdict.
type FleetEdge struct {
	// addOn is the dependent.
	// +required
	// +kubebuilder:validation:MaxLength=256
	AddOn string `json:"addOn"`

	// dependency is the name of the edge, or of the requirement. It is empty where the declaration of the add-on is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Dependency string `json:"dependency,omitempty"`

	// type is Required, Optional, IfInstalled or Conflicts. A requirement is Required.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`

	// verdicts are the verdicts on the edge, ordered by name. The verdict on lost clusters is Held.
	// +required
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Verdicts []VerdictCount `json:"verdicts,omitempty"`
}

// VerdictCount is a verdict with its number of managed clusters.
type VerdictCount struct {
	// verdict is the verdict.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`

	// clusters is the number of managed clusters with this verdict.
	// +required
	// +kubebuilder:validation:Minimum=1
	Clusters int32 `json:"clusters,omitempty"`
}

// +kubebuilder:object:root=true

// AddOnFleetReportList is a list of AddOnFleetReports.
type AddOnFleetReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is a list of AddOnFleetReports.
	Items []AddOnFleetReport `json:"items"`
}
