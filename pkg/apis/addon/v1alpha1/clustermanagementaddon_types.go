package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster

// ClusterManagementAddOn is OCM's registration of an add-on on the hub, with
// the dependencies of the proposal in its spec.
type ClusterManagementAddOn struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec represents a desired configuration for the agent on the cluster management add-on.
	// +required
	Spec ClusterManagementAddOnSpec `json:"spec"`

	// status represents the current status of cluster management add-on.
	// +optional
	Status addonv1alpha1.ClusterManagementAddOnStatus `json:"status,omitempty"`
}

// ClusterManagementAddOnSpec provides information for the add-on.
type ClusterManagementAddOnSpec struct {
	// The fields that OCM ships.
	addonv1alpha1.ClusterManagementAddOnSpec `json:",inline"`

	// dependencies is a list of add-ons that this add-on depends on.
	// The add-on will only be installed and considered healthy if all its dependencies
	// are installed and available on the managed cluster.
	// An empty list means the add-on has no dependencies.
	// The default is an empty list.
	// +optional
	Dependencies []AddonDependency `json:"dependencies,omitempty"`
}

// AddonDependency represents a dependency on another add-on.
type AddonDependency struct {
	// name is the name of the dependent add-on.
	// This should match the name of a ClusterManagementAddOn resource.
	// +required
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MinLength:=1
	Name string `json:"name"`

	// type specifies the type of the dependency.
	// Valid values are:
	// - "Required" (default): The addon cannot function without this dependency.
	//   The Degraded condition will be set with reason RequiredDependencyNotSatisfied, and the Available
	//   condition should be set to False when the dependency is not satisfied.
	// - "Optional": The addon can work with reduced functionality without this dependency.
	//   The Degraded condition will be set with reason DependencyNotSatisfied when the dependency is not satisfied,
	//   but the Available condition may remain True if the addon is otherwise functional.
	// +optional
	// +kubebuilder:validation:Enum=Optional;Required
	// +kubebuilder:default=Required
	Type DependencyType `json:"type,omitempty"`

	// message is a human-readable message describing what functionality will be impacted
	// when this dependency is not satisfied.
	// This is particularly useful for Optional dependencies to inform users about the reduced functionality.
	// The message will be included in the Degraded condition when the dependency is not satisfied.
	// Example: "Token-based access to managed clusters is unavailable"
	// +optional
	Message string `json:"message,omitempty"`
}

// DependencyType describes the type of dependency
// +kubebuilder:validation:Enum=Optional;Required
type DependencyType string

const (
	// DependencyTypeOptional indicates the addon can work with reduced functionality without this dependency
	DependencyTypeOptional DependencyType = "Optional"
	// DependencyTypeRequired indicates the addon cannot function without this dependency
	DependencyTypeRequired DependencyType = "Required"
)

// DependenciesAnnotation on a ClusterManagementAddOn declares dependencies
// where the CRD may not be touched. Its value is YAML or JSON: the same list
// as spec.dependencies, with the same validation. The field wins where both
// are present.
const DependenciesAnnotation = "addon.open-cluster-management.io/dependencies"

// +kubebuilder:object:root=true

// ClusterManagementAddOnList is a collection of cluster management add-ons.
type ClusterManagementAddOnList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is a list of cluster management add-ons.
	Items []ClusterManagementAddOn `json:"items"`
}
