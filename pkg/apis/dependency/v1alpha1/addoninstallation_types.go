package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// MaxInstallationRequests is how many add-ons an AddOnInstallation can name.
const MaxInstallationRequests = 256

// InstallationPhase is how far an installation is.
// +kubebuilder:validation:Enum=Installing;Installed;Unused;Removing;Kept;GivenUp
type InstallationPhase string

// The phases.
const (
	// PhaseInstalling: Interlock has the add-on installed, and its ManagedClusterAddOn is not there yet.
	PhaseInstalling InstallationPhase = "Installing"
	// PhaseInstalled: the ManagedClusterAddOn is there.
	PhaseInstalled InstallationPhase = "Installed"
	// PhaseUnused: no add-on on the cluster uses it any more. It is removed an hour later.
	PhaseUnused InstallationPhase = "Unused"
	// PhaseRemoving: Interlock has it removed, and its ManagedClusterAddOn is still there.
	PhaseRemoving InstallationPhase = "Removing"
	// PhaseKept: another writer has taken the add-on over. Interlock does not remove it.
	PhaseKept InstallationPhase = "Kept"
	// PhaseGivenUp: it was removed again and again by others. Interlock waits until status.undone.again.
	PhaseGivenUp InstallationPhase = "GivenUp"
)

// ConditionInstalled is the type of the condition of an AddOnInstallation.
const ConditionInstalled = "Installed"

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=addoninstallations,singular=addoninstallation,shortName=adinstall,categories=ocm
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="How far the installation is"
// +kubebuilder:printcolumn:name="Requested By",type=string,JSONPath=`.spec.requestedBy[*].addOn`,description="The add-ons that need it"
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.since`,description="Since when it is in this phase"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Installed")].reason`,description="Why it is in this phase",priority=1
// +kubebuilder:printcolumn:name="Unused Since",type=date,JSONPath=`.status.unusedSince`,description="Since when no add-on on the cluster uses it",priority=1

// AddOnInstallation is an add-on that Interlock has installed on a managed cluster because other add-ons there need it. It is in the
// cluster's namespace on the hub and has the add-on's name. addon-manager writes it before it installs the add-on, and deletes it once the
// add-on is removed. A user who deletes it hands the add-on over: Interlock then never removes the add-on.
//
// It has no status subresource. addon-manager alone writes spec and status, in one write, so that no crash lies between them. And a backup
// of objects keeps the status.
type AddOnInstallation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says who the add-on is there for.
	// +optional
	Spec AddOnInstallationSpec `json:"spec,omitempty"`

	// status says what Interlock has done.
	// +optional
	Status AddOnInstallationStatus `json:"status,omitempty"`
}

// AddOnInstallationSpec says who an add-on is there for.
type AddOnInstallationSpec struct {
	// requestedBy are the add-ons on the cluster that need it with install: Auto, ordered by name. Once none does any more, the last ones
	// stay here.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=addOn
	RequestedBy []InstallationRequest `json:"requestedBy,omitempty"`
}

// InstallationRequest is an add-on that needs another one.
type InstallationRequest struct {
	// addOn is its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	AddOn string `json:"addOn"`

	// removal is what its edge says about the removal of the needed add-on.
	// +required
	// +kubebuilder:validation:Enum=Keep;WithLastDependent
	Removal addonv1alpha1.DependencyRemoval `json:"removal"`
}

// AddOnInstallationStatus says what Interlock has done.
type AddOnInstallationStatus struct {
	// conditions has Installed, whose reason says why the installation is in its phase.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// phase is how far the installation is.
	// +optional
	Phase InstallationPhase `json:"phase,omitempty"`

	// since is since when it is in this phase.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// uid is that of the ManagedClusterAddOn.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// generation is that of the ManagedClusterAddOn when it was created. A higher one means that another writer has configured it.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// clusterUID is that of the ManagedCluster. Another cluster of the same name does not take over the installation.
	// +optional
	ClusterUID types.UID `json:"clusterUID,omitempty"`

	// unusedSince is since when no add-on on the cluster uses it.
	// +optional
	UnusedSince *metav1.Time `json:"unusedSince,omitempty"`

	// undone counts how many times others have removed the add-on while it was needed.
	// +optional
	Undone *Undone `json:"undone,omitempty"`
}

// Undone counts how many times others have removed an add-on.
type Undone struct {
	// count is how many times, each within an hour of the one before.
	// +required
	// +kubebuilder:validation:Minimum=1
	Count int32 `json:"count"`

	// last is when it was removed last.
	// +required
	Last metav1.Time `json:"last"`

	// again is when Interlock installs it once more.
	// +required
	Again metav1.Time `json:"again"`
}

// +kubebuilder:object:root=true

// AddOnInstallationList is a list of AddOnInstallations.
type AddOnInstallationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []AddOnInstallation `json:"items"`
}
