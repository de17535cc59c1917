package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// FleetCause is a cause that keeps add-ons of a fleet from working.
type FleetCause struct {
	// title describes the cause in a few words.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Title string `json:"title"`

	// addOn is the dependency that fails. It is empty for an API or a requirement.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	AddOn string `json:"addOn,omitempty"`

	// api is the API that is not served.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	API string `json:"api,omitempty"`

	// servedBy is Hub or HostingCluster where another API server than that of the managed cluster must serve the API.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ServedBy string `json:"servedBy,omitempty"`

	// hostingCluster is the managed cluster that runs the agent of the dependent for other clusters, and must serve the API.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	HostingCluster string `json:"hostingCluster,omitempty"`

	// removing is true where the dependency is being removed, and the verdict is NotAvailable.
	// +optional
	Removing bool `json:"removing,omitempty"`

	// unreported is true where no addon-agent reports whether the API is served, or which fields it has.
	// +optional
	Unreported bool `json:"unreported,omitempty"`

	// served is true where the API is served, but not with the required fields.
	// +optional
	Served bool `json:"served,omitempty"`

	// requirement is the requirement of the platform that is not met, such as requirements.kubernetes.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Requirement string `json:"requirement,omitempty"`

	// dependent is the add-on that declares the requirement.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Dependent string `json:"dependent,omitempty"`

	// verdict is the verdict on the edge that fails.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict"`

	// reason is the reason of the dependency's condition Available, where the verdict is NotAvailable.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// cycle spells the cycle out, where the verdict is Cycle.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Cycle string `json:"cycle,omitempty"`

	// message is the message of addon-manager about the edge, on the first of the examples.
	// +optional
	// +kubebuilder:validation:MaxLength=768
	Message string `json:"message,omitempty"`

	// stored is true where message is the stored message of Degraded, because only addon-manager knows why the installation
	// waits. It may describe other edges, too.
	// +optional
	Stored bool `json:"stored,omitempty"`

	// stopped is true where Interlock does not install the add-on although the edge requests it. message explains why.
	// +optional
	Stopped bool `json:"stopped,omitempty"`

	// unset is true where a required setting of an edge on the add-on has no value on one of the clusters.
	// +optional
	Unset bool `json:"unset,omitempty"`

	// providers are registered add-ons that provide an API that is not served. The list has the first 4 of them.
	// +optional
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=atomic
	Providers []string `json:"providers,omitempty"`

	// clusters is the number of managed clusters with an add-on that the cause breaks.
	// +required
	// +kubebuilder:validation:Minimum=1
	Clusters int32 `json:"clusters,omitempty"`

	// addOns is the number of add-ons that the cause breaks. An add-on counts on each cluster.
	// +required
	// +kubebuilder:validation:Minimum=1
	AddOns int32 `json:"addOns,omitempty"`

	// began is when the dependency itself became unavailable: when its condition Available changed. It is missing where that is not known.
	// +optional
	Began *FleetOnset `json:"began,omitempty"`

	// effects is when the first of these add-ons became Degraded. It is missing where that is not known.
	// +optional
	Effects *FleetOnset `json:"effects,omitempty"`

	// victims are the names of these add-ons, each with its number of clusters, in descending order of the number. The list
	// has the first 10 of them.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	Victims []FleetVictim `json:"victims,omitempty"`

	// otherVictims is the number of names that victims lacks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OtherVictims int32 `json:"otherVictims,omitempty"`

	// examples are the names of some of the clusters.
	// +optional
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=atomic
	Examples []string `json:"examples,omitempty"`

	// shared are traits of the affected clusters that most other clusters with the same add-ons do not have. The list has the
	// first 3 of them.
	// +optional
	// +kubebuilder:validation:MaxItems=3
	// +listType=atomic
	Shared []SharedTrait `json:"shared,omitempty"`

	// otherClusters is the number of these other clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OtherClusters int32 `json:"otherClusters,omitempty"`
}

// FleetOnset is the time at which something began to fail on the first managed clusters.
type FleetOnset struct {
	// since is the earliest time on an affected managed cluster.
	// +required
	Since metav1.Time `json:"since,omitzero"`

	// firstCluster is the first of the managed clusters with that time, by name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FirstCluster string `json:"firstCluster,omitempty"`

	// clusters is the number of managed clusters with that time.
	// +required
	// +kubebuilder:validation:Minimum=1
	Clusters int32 `json:"clusters,omitempty"`
}

// FleetVictim is an add-on that a root cause breaks.
type FleetVictim struct {
	// addOn is the name of the add-on.
	// +required
	// +kubebuilder:validation:MaxLength=256
	AddOn string `json:"addOn"`

	// clusters is the number of managed clusters on which the cause breaks it.
	// +required
	// +kubebuilder:validation:Minimum=1
	Clusters int32 `json:"clusters,omitempty"`
}

// SharedTrait is a label, a claim or the version of Kubernetes that affected clusters share.
type SharedTrait struct {
	// name is the name of the trait.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`

	// value is its value.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Value string `json:"value"`

	// affected is the number of affected clusters with this value.
	// +required
	// +kubebuilder:validation:Minimum=0
	Affected int32 `json:"affected"`

	// others is the number of other clusters with this value.
	// +required
	// +kubebuilder:validation:Minimum=0
	Others int32 `json:"others"`
}
