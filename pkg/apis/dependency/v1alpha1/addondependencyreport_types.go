package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of the schema: an object that breaks one is refused as a whole.
const (
	// MaxReportEntries is how many entries a list of a report can have. Its size ends it earlier.
	MaxReportEntries = 4096
	// MaxReportText is how long a text in a report can be, in characters.
	MaxReportText = 1024
	// MaxReportName is how long a name in a report can be, in characters.
	MaxReportName = 512
	// MaxRootCauses is how many root causes an edge of a report can have.
	MaxRootCauses = 64
	// MaxAwaited is how many edges an installation or an upgrade can wait for in a report.
	MaxAwaited = 64
)

// ReportScope is which edges a report has.
// +kubebuilder:validation:Enum=Unsatisfied;All
type ReportScope string

// The scopes.
const (
	// ReportUnsatisfied: edges that are not satisfied, and those that were not when their verdict was held.
	ReportUnsatisfied ReportScope = "Unsatisfied"
	// ReportAll: all edges.
	ReportAll ReportScope = "All"
)

// WaitKind is the kind of a wait for dependencies.
// +kubebuilder:validation:Enum=Installation;Upgrade
type WaitKind string

// The kinds of waits.
const (
	// WaitInstallation: the first installation of the add-on, behind a closed gate.
	WaitInstallation WaitKind = "Installation"
	// WaitUpgrade: another AddOnTemplate, while the one before runs.
	WaitUpgrade WaitKind = "Upgrade"
)

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=addondependencyreports,singular=addondependencyreport,shortName=adreport,categories=ocm
// +kubebuilder:printcolumn:name="Failing",type=integer,JSONPath=`.summary.failing`,description="How many add-ons cannot work because of an edge"
// +kubebuilder:printcolumn:name="Waiting",type=integer,JSONPath=`.summary.waiting`,description="How many installations and upgrades wait for dependencies"
// +kubebuilder:printcolumn:name="Unsatisfied",type=integer,JSONPath=`.summary.unsatisfied`,description="How many edges are not satisfied"
// +kubebuilder:printcolumn:name="Held",type=integer,JSONPath=`.summary.held`,description="Of how many edges the verdict is held"
// +kubebuilder:printcolumn:name="Pending",type=integer,JSONPath=`.summary.pending`,description="How many edges a rollout under way breaks or repairs"
// +kubebuilder:printcolumn:name="Scope",type=string,JSONPath=`.scope`,description="Which edges the report has",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// AddOnDependencyReport is what Interlock knows of the edges between the add-ons on one managed cluster. It is in the
// cluster's namespace on the hub and has the cluster's name. addon-manager writes it with --reports, while it has an entry.
// kubectl addon report prints the same.
type AddOnDependencyReport struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// scope is which edges the report has: those that are not satisfied, or all.
	// +required
	Scope ReportScope `json:"scope"`

	// summary counts the edges, those that are left out too.
	// +required
	Summary ReportSummary `json:"summary"`

	// edges are the dependencies and requirements of the add-ons on the cluster: first those that keep an add-on from
	// working, then the other unsatisfied ones, the held ones and the rest, each ordered by add-on.
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +listType=atomic
	Edges []ReportedEdge `json:"edges,omitempty"`

	// waiting are the installations and upgrades that wait for dependencies, ordered by add-on.
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +listType=atomic
	Waiting []ReportedWait `json:"waiting,omitempty"`

	// pending are the edges whose verdict a rollout under way breaks or repairs.
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +listType=atomic
	Pending []PendingEdge `json:"pending,omitempty"`

	// neededBy are the add-ons that an edge of the report is on and applies to, with their dependents, ordered by name.
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +listType=atomic
	NeededBy []NeededAddOn `json:"neededBy,omitempty"`
}

// ReportSummary counts the edges of a report, and the add-ons that they concern.
type ReportSummary struct {
	// failing is how many add-ons cannot work, because an edge that they need for that is not satisfied. It has those whose installation
	// waits.
	// +required
	// +kubebuilder:validation:Minimum=0
	Failing int32 `json:"failing"`

	// waiting is how many installations and upgrades wait for dependencies.
	// +required
	// +kubebuilder:validation:Minimum=0
	Waiting int32 `json:"waiting"`

	// unsatisfied is how many edges are not satisfied.
	// +required
	// +kubebuilder:validation:Minimum=0
	Unsatisfied int32 `json:"unsatisfied"`

	// held is of how many edges the verdict is held, because nothing new is known.
	// +required
	// +kubebuilder:validation:Minimum=0
	Held int32 `json:"held"`

	// pending is how many edges a rollout under way breaks or repairs.
	// +required
	// +kubebuilder:validation:Minimum=0
	Pending int32 `json:"pending"`

	// leftOut is how many entries of edges, waiting, pending and neededBy are missing, because the report would be too large.
	// +optional
	// +kubebuilder:validation:Minimum=0
	LeftOut int32 `json:"leftOut,omitempty"`
}

// ReportedEdge is a dependency or a requirement of an add-on, and its verdict.
type ReportedEdge struct {
	// addOn is the dependent.
	// +required
	// +kubebuilder:validation:MaxLength=512
	AddOn string `json:"addOn"`

	// dependency is the name of the edge, or of the requirement, such as requirements.kubernetes.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Dependency string `json:"dependency,omitempty"`

	// type is Required, Optional, IfInstalled or Conflicts. A requirement is Required.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type"`

	// wanted is what the edge needs.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Wanted string `json:"wanted,omitempty"`

	// found is what was found instead. It is empty where the edge is satisfied or does not apply.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Found string `json:"found,omitempty"`

	// verdict is what is true of the edge on the cluster. Held: it was never known.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`

	// held is true where nothing new is known, and the entry is the last one that was known.
	// +optional
	Held bool `json:"held,omitempty"`

	// since is when the condition of the dependency last changed on which the verdict rests; else since when the
	// dependent is Degraded because of its dependencies. It is missing where neither is known.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// rootCauses are what fails by itself, so that the edge is not satisfied: often the edge itself. They are the first 64.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	RootCauses []ReportedCause `json:"rootCauses,omitempty"`
}

// ReportedCause is what fails by itself.
type ReportedCause struct {
	// dependent is the add-on that declares the edge which fails.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Dependent string `json:"dependent"`

	// target is what that edge is on: an add-on, an API or a requirement.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Target string `json:"target,omitempty"`

	// verdict is that of the edge.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`

	// reason is that of the condition Available of the target, where the verdict is NotAvailable.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}

// ReportedWait is an installation or an upgrade of an add-on that waits for dependencies.
type ReportedWait struct {
	// addOn is the add-on.
	// +required
	// +kubebuilder:validation:MaxLength=512
	AddOn string `json:"addOn"`

	// kind is Installation or Upgrade.
	// +required
	Kind WaitKind `json:"kind"`

	// runningTemplate is the AddOnTemplate that runs during an upgrade that waits.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RunningTemplate string `json:"runningTemplate,omitempty"`

	// runningVersion is the version of that template, if it has one.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RunningVersion string `json:"runningVersion,omitempty"`

	// template is the AddOnTemplate that waits. An installation may have none.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Template string `json:"template,omitempty"`

	// version is the version of that template, if it has one.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Version string `json:"version,omitempty"`

	// since is when the wait began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// dependencies are the edges and requirements that it waits for. It is empty where all are satisfied, just before the wait ends.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Dependencies []AwaitedEdge `json:"dependencies,omitempty"`
}

// AwaitedEdge is an edge or a requirement that an installation or an upgrade waits for.
type AwaitedEdge struct {
	// dependency is the name of the edge, or of the requirement, such as requirements.kubernetes. It is empty where it is not known what
	// the add-on declares.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Dependency string `json:"dependency,omitempty"`

	// wanted is what the edge needs.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Wanted string `json:"wanted,omitempty"`

	// found is what was found instead.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Found string `json:"found,omitempty"`

	// verdict is what is true of the edge. Held: it is not known.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`
}

// PendingEdge is an edge whose verdict a rollout under way changes.
type PendingEdge struct {
	// addOn is the dependent.
	// +required
	// +kubebuilder:validation:MaxLength=512
	AddOn string `json:"addOn"`

	// dependency is the name of the edge.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Dependency string `json:"dependency,omitempty"`

	// verdict is the one once the rollout is done.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`

	// found is what will be found then. It is empty where the edge will be satisfied.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Found string `json:"found,omitempty"`
}

// NeededAddOn is an add-on, and what depends on it on the same cluster.
type NeededAddOn struct {
	// addOn is the dependency. It may not be installed.
	// +required
	// +kubebuilder:validation:MaxLength=512
	AddOn string `json:"addOn"`

	// dependents are the names of the add-ons that depend on it, ascending.
	// +required
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	Dependents []string `json:"dependents"`
}

// +kubebuilder:object:root=true

// AddOnDependencyReportList is a list of AddOnDependencyReports.
type AddOnDependencyReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is a list of AddOnDependencyReports.
	Items []AddOnDependencyReport `json:"items"`
}
