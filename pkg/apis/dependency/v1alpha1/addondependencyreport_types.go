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

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=addondependencyreports,singular=addondependencyreport,shortName=adreport,categories=ocm
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

// ReportSummary counts the edges of a report.
type ReportSummary struct {
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

	// leftOut is how many entries of edges, pending and neededBy are missing, because the report would be too large.
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
