package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// The schema of the fields comes from v1alpha1: hack/crds adds it to every version of OCM's CRD.
// +kubebuilder:object:root=true
// +kubebuilder:skipversion

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
	Status addonv1beta1.ClusterManagementAddOnStatus `json:"status,omitempty"`
}

// ClusterManagementAddOnSpec provides information for the add-on. The fields that Interlock adds are explained in
// v1alpha1.
type ClusterManagementAddOnSpec struct {
	// The fields that OCM ships.
	addonv1beta1.ClusterManagementAddOnSpec `json:",inline"`

	// dependencies is a list of add-ons that this add-on depends on.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	Dependencies []AddonDependency `json:"dependencies,omitempty"`

	// requirements are the requirements of the add-on on the platform that it runs on.
	// +optional
	Requirements *AddonRequirements `json:"requirements,omitempty"`

	// provides lists the APIs that the add-on brings to a managed cluster.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	Provides []AddonAPI `json:"provides,omitempty"`

	// ordering selects the changes of the add-on that wait for its dependencies.
	// +optional
	Ordering Ordering `json:"ordering,omitempty"`
}

// The types of a declaration.
type (
	// AddonDependency represents a dependency on another add-on.
	AddonDependency = addonv1alpha1.AddonDependency
	// DependencyType describes the type of dependency.
	DependencyType = addonv1alpha1.DependencyType
	// AddonRequirements are the requirements of an add-on on its platform.
	AddonRequirements = addonv1alpha1.AddonRequirements
	// AddonAPI is an API of a managed cluster.
	AddonAPI = addonv1alpha1.AddonAPI
	// Ordering selects the changes of an add-on that wait for its dependencies.
	Ordering = addonv1alpha1.Ordering
)

// The types of dependencies that the proposal has.
const (
	// DependencyTypeOptional indicates the addon can work with reduced functionality without this dependency.
	DependencyTypeOptional = addonv1alpha1.DependencyTypeOptional
	// DependencyTypeRequired indicates the addon cannot function without this dependency.
	DependencyTypeRequired = addonv1alpha1.DependencyTypeRequired
)

// +kubebuilder:object:root=true
// +kubebuilder:skipversion

// ClusterManagementAddOnList is a collection of cluster management add-ons.
type ClusterManagementAddOnList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is a list of cluster management add-ons.
	Items []ClusterManagementAddOn `json:"items"`
}
