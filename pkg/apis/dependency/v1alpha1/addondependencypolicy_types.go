package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of the schema of an AddOnDependencyPolicy.
const (
	// MaxOverrides is how many overrides a policy can have.
	MaxOverrides = 256
	// MaxWaiverReason is how long the reason of a waiver can be, in characters.
	MaxWaiverReason = 1024
)

// The conditions of an AddOnDependencyPolicy.
const (
	// PolicyAccepted: all overrides can be used.
	PolicyAccepted = "Accepted"
	// PolicyConflicting: another policy says something else of the same dependency, or of the protection, on the same
	// managed cluster.
	PolicyConflicting = "Conflicting"
)

// The reasons of these conditions.
const (
	// ReasonAccepted: all overrides can be used.
	ReasonAccepted = "Accepted"
	// ReasonInvalid: one cannot. Verdicts on its dependency stay as they are.
	ReasonInvalid = "Invalid"
	// ReasonNoConflict: no other policy contradicts this one.
	ReasonNoConflict = "NoConflict"
	// ReasonStricterCounts: another policy contradicts this one, and the stricter of both counts.
	ReasonStricterCounts = "StricterCounts"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=addondependencypolicies,singular=addondependencypolicy,shortName=adpolicy,categories=ocm
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`,description="Whether all overrides can be used"
// +kubebuilder:printcolumn:name="Conflicting",type=string,JSONPath=`.status.conditions[?(@.type=="Conflicting")].status`,description="Whether another policy says something else of a dependency"
// +kubebuilder:printcolumn:name="AddOns",type=integer,JSONPath=`.status.addOns`,description="Dependencies of how many add-ons the policy overrides"
// +kubebuilder:printcolumn:name="Clusters",type=integer,JSONPath=`.status.clusters`,description="On how many managed clusters the policy has an effect"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// AddOnDependencyPolicy is the word of a hub's administrator on what add-ons declare of their dependencies. It
// overrides the declarations of ClusterManagementAddOns and AddOnTemplates on the managed clusters that it selects. Where
// two policies contradict each other on one dependency of an add-on on a managed cluster, the stricter counts.
type AddOnDependencyPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is overridden, and where. Without it, the policy does nothing.
	// +optional
	Spec AddOnDependencyPolicySpec `json:"spec,omitempty"`

	// status is what the policy does. addon-manager writes it.
	// +optional
	Status AddOnDependencyPolicyStatus `json:"status,omitempty"`
}

// AddOnDependencyPolicySpec is what is overridden, and where.
type AddOnDependencyPolicySpec struct {
	// clusterSelector selects managed clusters by their labels. Without it, the policy is for all of them.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// overrides are what is overridden: each one dependency, or one requirement, of one add-on.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=addOn
	// +listMapKey=dependency
	Overrides []DependencyOverride `json:"overrides,omitempty"`

	// protection is what addon-manager webhook does on these managed clusters with a change that would take from installed
	// add-ons what they require. Off lets it pass. Warn lets it pass with a warning. Enforce refuses it. Without it, the
	// flag --protection of addon-manager webhook counts. Of several policies, the strictest counts.
	// +optional
	// +kubebuilder:validation:Enum=Off;Warn;Enforce
	Protection Protection `json:"protection,omitempty"`

	// install is whether Interlock may have add-ons installed on these managed clusters because others need them. Without it, it
	// may. Of several policies, Deny counts.
	// +optional
	// +kubebuilder:validation:Enum=Allow;Deny
	Install Install `json:"install,omitempty"`
}

// Install is whether Interlock may have add-ons installed because others need them.
type Install string

const (
	// InstallAllow lets Interlock have them installed.
	InstallAllow Install = "Allow"
	// InstallDeny keeps Interlock from it. What is installed stays.
	InstallDeny Install = "Deny"
)

// Protection is what is done with a change that would take from installed add-ons what they require.
type Protection string

const (
	// ProtectionOff lets it pass.
	ProtectionOff Protection = "Off"
	// ProtectionWarn lets it pass with a warning.
	ProtectionWarn Protection = "Warn"
	// ProtectionEnforce refuses it.
	ProtectionEnforce Protection = "Enforce"
)

// DependencyOverride is what is overridden of one dependency of an add-on.
// +kubebuilder:validation:XValidation:rule="has(self.waive) != (has(self.version) || has(self.type))",message="either waive, or version and type, must be set: a dependency that is waived has neither"
type DependencyOverride struct {
	// addOn is the add-on that declares the dependency.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	AddOn string `json:"addOn"`

	// dependency is the name of the dependency as the add-on declares it, or of a requirement, such as
	// requirements.kubernetes. Requirements, and dependencies of type Conflicts, can only be waived.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Dependency string `json:"dependency"`

	// version is the range of versions that satisfies the dependency, instead of the one that is declared. "*" is any
	// version, known or not. It has no effect on a dependency on an API.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// type is that of the dependency, instead of the one that is declared.
	// +optional
	// +kubebuilder:validation:Enum=Required;Optional;IfInstalled
	Type string `json:"type,omitempty"`

	// waive lets the dependency count as satisfied until a moment, whatever is true of it.
	// +optional
	Waive *DependencyWaiver `json:"waive,omitempty"`
}

// DependencyWaiver lets a dependency count as satisfied for a while.
type DependencyWaiver struct {
	// reason is why. It is shown to those who ask for the state of the add-on.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason"`

	// until is when the waiver ends: at most 366 days from now.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	Until metav1.Time `json:"until"`
}

// AddOnDependencyPolicyStatus is what a policy does.
type AddOnDependencyPolicyStatus struct {
	// conditions are Accepted and Conflicting.
	// +optional
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// observedGeneration is the generation of spec that the status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// addOns is how many add-ons have a dependency that the policy overrides on some managed cluster.
	// +optional
	AddOns int32 `json:"addOns"`

	// clusters is on how many managed clusters the policy overrides a dependency, or sets protection or install.
	// +optional
	Clusters int32 `json:"clusters"`

	// overrides are what each override does, in the order of spec.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	Overrides []OverrideStatus `json:"overrides,omitempty"`
}

// OverrideStatus is what an override does.
type OverrideStatus struct {
	// addOn is the add-on that declares the dependency.
	// +required
	// +kubebuilder:validation:MaxLength=253
	AddOn string `json:"addOn"`

	// dependency is the name of the dependency.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Dependency string `json:"dependency"`

	// clusters is on how many managed clusters the add-on is installed, the policy is for the cluster, and the dependency
	// is one that the add-on declares there.
	// +required
	Clusters int32 `json:"clusters"`

	// ended is true where the override is a waiver that has ended. The dependency counts as declared.
	// +optional
	Ended bool `json:"ended,omitempty"`

	// message says why the override has no effect, or that its waiver has ended. It is empty for one that is in effect.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// +kubebuilder:object:root=true

// AddOnDependencyPolicyList is a list of policies.
type AddOnDependencyPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AddOnDependencyPolicy `json:"items"`
}
