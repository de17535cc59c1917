package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// MaxInstallationRequests is the highest number of add-ons that an AddOnInstallation can name.
const MaxInstallationRequests = 256

// InstallationPhase is the phase of an installation.
// +kubebuilder:validation:Enum=Installing;Installed;Unused;Removing;Kept;GivenUp
type InstallationPhase string

// The phases.
const (
	// PhaseInstalling: Interlock requested the installation, and the ManagedClusterAddOn does not exist yet.
	PhaseInstalling InstallationPhase = "Installing"
	// PhaseInstalled: the ManagedClusterAddOn exists.
	PhaseInstalled InstallationPhase = "Installed"
	// PhaseUnused: no add-on on the cluster uses the add-on any more. Interlock removes it later, by default after an hour.
	PhaseUnused InstallationPhase = "Unused"
	// PhaseRemoving: Interlock requested the removal, and the ManagedClusterAddOn still exists.
	PhaseRemoving InstallationPhase = "Removing"
	// PhaseKept: another writer has taken the add-on over. Interlock does not remove it.
	PhaseKept InstallationPhase = "Kept"
	// PhaseGivenUp: others removed the add-on repeatedly. Interlock waits until status.undone.again.
	PhaseGivenUp InstallationPhase = "GivenUp"
)

// ConditionInstalled is the type of the condition of an AddOnInstallation.
const ConditionInstalled = "Installed"

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=addoninstallations,singular=addoninstallation,shortName=adinstall,categories=ocm
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="How far the installation is"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Installed")].reason`,description="What the next step waits for, or the phase"
// +kubebuilder:printcolumn:name="First Requester",type=string,JSONPath=`.spec.requestedBy[0].addOn`,description="The first of the add-ons that need it; spec.requestedBy has all"
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.since`,description="Since when it is in this phase"
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

	// spec lists the add-ons for which Interlock installed it.
	// +optional
	Spec AddOnInstallationSpec `json:"spec,omitempty"`

	// status is the state of the installation.
	// +optional
	Status AddOnInstallationStatus `json:"status,omitempty"`
}

// AddOnInstallationSpec lists the add-ons for which Interlock installed an add-on.
type AddOnInstallationSpec struct {
	// requestedBy are the add-ons on the cluster that have an edge with install Auto on it, ordered by name. Once no add-on
	// needs it any more, the list keeps its last content.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=addOn
	RequestedBy []InstallationRequest `json:"requestedBy,omitempty"`
}

// InstallationRequest is an add-on that needs the installed add-on.
type InstallationRequest struct {
	// addOn is the name of the add-on that needs the installed one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	AddOn string `json:"addOn"`

	// removal is the value of removal on the edge of that add-on: Keep or WithLastDependent.
	// +required
	// +kubebuilder:validation:Enum=Keep;WithLastDependent
	Removal addonv1alpha1.DependencyRemoval `json:"removal"`
}

// AddOnInstallationStatus is the state of an installation.
type AddOnInstallationStatus struct {
	// conditions has the condition Installed. Its reason explains the phase.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// phase is the phase of the installation.
	// +optional
	Phase InstallationPhase `json:"phase,omitempty"`

	// since is the time at which the phase began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// uid is the UID of the ManagedClusterAddOn.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// generation is the generation of the ManagedClusterAddOn at its creation. If its generation is higher now, another
	// writer has configured it.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// clusterUID is the UID of the ManagedCluster. Another cluster with the same name does not take over the installation.
	// +optional
	ClusterUID types.UID `json:"clusterUID,omitempty"`

	// labeledSince is the time at which Interlock labeled the ManagedCluster, so that OCM installs the add-on. It is missing if no label
	// installs it. If the label is missing afterwards, another writer has removed it.
	// +optional
	LabeledSince *metav1.Time `json:"labeledSince,omitempty"`

	// unusedSince is the time since when no add-on on the cluster uses it. It is missing while one does.
	// +optional
	UnusedSince *metav1.Time `json:"unusedSince,omitempty"`

	// undone counts removals of the add-on by others while it was needed. It is missing without any.
	// +optional
	Undone *Undone `json:"undone,omitempty"`
}

// Undone counts removals of an add-on by others.
type Undone struct {
	// count is the number of removals, each within an hour of the previous removal.
	// +required
	// +kubebuilder:validation:Minimum=1
	Count int32 `json:"count"`

	// last is the time of the last removal.
	// +required
	Last metav1.Time `json:"last"`

	// again is the time at which Interlock installs the add-on again.
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
