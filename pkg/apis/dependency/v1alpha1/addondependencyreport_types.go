package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of the schema. An object that exceeds a limit is refused as a whole.
const (
	// MaxReportEntries is the highest number of entries in a list of a report. Usually, the size limit of the report is
	// reached first.
	MaxReportEntries = 4096
	// MaxReportText is the maximum length of a text in a report, in characters.
	MaxReportText = 1024
	// MaxReportName is the maximum length of a name in a report, in characters.
	MaxReportName = 512
	// MaxRootCauses is the highest number of root causes of an edge in a report.
	MaxRootCauses = 64
	// MaxAwaited is the highest number of edges that an installation or an upgrade waits for in a report.
	MaxAwaited = 64
)

// ReportScope selects the edges of a report.
// +kubebuilder:validation:Enum=Unsatisfied;All
type ReportScope string

// The scopes.
const (
	// ReportUnsatisfied: edges that are not satisfied, and held edges that were not satisfied before.
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

// AddOnDependencyReport is the state of the edges between the add-ons on one managed cluster. It is in the cluster's
// namespace on the hub and has the cluster's name. addon-manager --reports writes it, and deletes it when it has no entry.
// kubectl addon report prints the same data.
type AddOnDependencyReport struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// scope selects the edges of the report: Unsatisfied or All.
	// +required
	Scope ReportScope `json:"scope"`

	// summary counts the edges, including edges that are left out.
	// +required
	Summary ReportSummary `json:"summary"`

	// edges are the dependencies and requirements of the add-ons on the cluster. The order is: edges that keep an add-on
	// from working, other unsatisfied edges, held edges, all others; each group ordered by add-on.
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +listType=atomic
	Edges []ReportedEdge `json:"edges,omitempty"`

	// waiting are the installations and upgrades that wait for dependencies, ordered by add-on.
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +listType=atomic
	Waiting []ReportedWait `json:"waiting,omitempty"`

	// pending are the edges that a rollout in progress breaks or repairs.
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +listType=atomic
	Pending []PendingEdge `json:"pending,omitempty"`

	// neededBy are the add-ons that an edge of the report refers to, with their dependents, ordered by name. Edges that do
	// not apply do not count.
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +listType=atomic
	NeededBy []NeededAddOn `json:"neededBy,omitempty"`
}

// ReportSummary counts the edges of a report, and the add-ons that they concern.
type ReportSummary struct {
	// failing is the number of add-ons that cannot work because an edge is not satisfied. It includes add-ons with a
	// waiting installation.
	// +required
	// +kubebuilder:validation:Minimum=0
	Failing int32 `json:"failing"`

	// waiting is the number of installations and upgrades that wait for dependencies.
	// +required
	// +kubebuilder:validation:Minimum=0
	Waiting int32 `json:"waiting"`

	// unsatisfied is the number of edges that are not satisfied.
	// +required
	// +kubebuilder:validation:Minimum=0
	Unsatisfied int32 `json:"unsatisfied"`

	// held is the number of edges with a held verdict, because nothing new is known.
	// +required
	// +kubebuilder:validation:Minimum=0
	Held int32 `json:"held"`

	// pending is the number of edges that a rollout in progress breaks or repairs.
	// +required
	// +kubebuilder:validation:Minimum=0
	Pending int32 `json:"pending"`

	// leftOut is the number of entries of edges, waiting, pending and neededBy that are missing because the report would be
	// too large.
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

	// wanted is the requirement of the edge in words.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Wanted string `json:"wanted,omitempty"`

	// found is the deviation from wanted in words. It is empty where the edge is satisfied or does not apply.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Found string `json:"found,omitempty"`

	// verdict is the verdict on the edge on the cluster. Held means that no verdict was ever known.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`

	// held is true where nothing new is known, and the entry is the last known one.
	// +optional
	Held bool `json:"held,omitempty"`

	// since is the last transition of the condition of the dependency that decides the verdict. Without such a condition, it
	// is the time since when the dependent is Degraded because of its dependencies. It is missing where neither is known.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// rootCauses are the edges that fail by themselves and cause this edge to fail: often the edge itself. The list has the
	// first 64 of them.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	RootCauses []ReportedCause `json:"rootCauses,omitempty"`
}

// ReportedCause is an edge that fails by itself, and not because a dependency of its dependency fails.
type ReportedCause struct {
	// dependent is the add-on that declares the edge which fails.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Dependent string `json:"dependent"`

	// target is the add-on, the API or the requirement that the edge refers to.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Target string `json:"target,omitempty"`

	// verdict is the verdict on the edge.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`

	// reason is the reason of the target's condition Available, where the verdict is NotAvailable.
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

	// runningTemplate is the AddOnTemplate that runs while an upgrade waits.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RunningTemplate string `json:"runningTemplate,omitempty"`

	// runningVersion is the version of runningTemplate. It is empty for a template without a version.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RunningVersion string `json:"runningVersion,omitempty"`

	// template is the AddOnTemplate that waits. An installation may have none.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Template string `json:"template,omitempty"`

	// version is the version of template. It is empty for a template without a version.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Version string `json:"version,omitempty"`

	// since is the time at which the wait began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// dependencies are the edges and requirements that it waits for. The list is empty where all are satisfied, just before
	// the wait ends.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Dependencies []AwaitedEdge `json:"dependencies,omitempty"`
}

// AwaitedEdge is an edge or a requirement that an installation or an upgrade waits for.
type AwaitedEdge struct {
	// dependency is the name of the edge, or of the requirement, such as requirements.kubernetes. It is empty where the
	// declaration of the add-on is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Dependency string `json:"dependency,omitempty"`

	// wanted is the requirement of the edge in words.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Wanted string `json:"wanted,omitempty"`

	// found is the deviation from wanted in words, or the reason why nothing is known.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Found string `json:"found,omitempty"`

	// verdict is the verdict on the edge. Held means that it is not known.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`
}

// PendingEdge is an edge that a rollout in progress breaks or repairs.
type PendingEdge struct {
	// addOn is the dependent.
	// +required
	// +kubebuilder:validation:MaxLength=512
	AddOn string `json:"addOn"`

	// dependency is the name of the edge.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Dependency string `json:"dependency,omitempty"`

	// verdict is the verdict after the rollout.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`

	// found is the deviation after the rollout in words. It is empty where the edge will be satisfied.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Found string `json:"found,omitempty"`
}

// NeededAddOn is an add-on with its dependents on the same cluster.
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
