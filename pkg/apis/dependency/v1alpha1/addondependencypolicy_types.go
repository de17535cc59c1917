package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of the schema of an AddOnDependencyPolicy.
const (
	// MaxOverrides is the highest number of overrides of a policy.
	MaxOverrides = 256
	// MaxWaiverReason is the maximum length of the reason of a waiver, in characters.
	MaxWaiverReason = 1024
)

// The conditions of an AddOnDependencyPolicy.
const (
	// PolicyAccepted is the type of the condition that is True where all overrides are valid.
	PolicyAccepted = "Accepted"
	// PolicyConflicting is the type of the condition that is True where another policy has a different value for the same
	// dependency, or for protection or install, on the same managed cluster.
	PolicyConflicting = "Conflicting"
)

// The reasons of these conditions.
const (
	// ReasonAccepted: all overrides are valid.
	ReasonAccepted = "Accepted"
	// ReasonInvalid: an override is invalid. Verdicts on its dependency stay as they are.
	ReasonInvalid = "Invalid"
	// ReasonNoConflict: no other policy contradicts this one.
	ReasonNoConflict = "NoConflict"
	// ReasonStricterCounts: another policy contradicts this policy, and the stricter of both counts.
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

// AddOnDependencyPolicy lets a hub's administrator override the dependencies that add-ons declare. It overrides the
// declarations of ClusterManagementAddOns and AddOnTemplates on the managed clusters that it selects. Where two policies
// contradict each other on one dependency of an add-on on a managed cluster, the stricter policy counts.
type AddOnDependencyPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec has the overrides, and the managed clusters that they are for. Without it, the policy has no effect.
	// +optional
	Spec AddOnDependencyPolicySpec `json:"spec,omitempty"`

	// status reports the effect of the policy. addon-manager writes it.
	// +optional
	Status AddOnDependencyPolicyStatus `json:"status,omitempty"`
}

// AddOnDependencyPolicySpec has overrides, and the managed clusters that they are for.
type AddOnDependencyPolicySpec struct {
	// clusterSelector selects managed clusters by their labels. Without it, the policy is for all managed clusters.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// overrides are the overrides. Each overrides one dependency, or one requirement, of one add-on.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=addOn
	// +listMapKey=dependency
	Overrides []DependencyOverride `json:"overrides,omitempty"`

	// protection is the reaction of addon-manager webhook to a change that would break installed add-ons on these managed
	// clusters: it removes an add-on that they require, or contradicts them. Off lets it pass. Warn lets it pass with a
	// warning. Enforce refuses it. Without it, the flag --protection of addon-manager webhook counts. Of several policies,
	// the strictest counts.
	// +optional
	// +kubebuilder:validation:Enum=Off;Warn;Enforce
	Protection Protection `json:"protection,omitempty"`

	// install controls whether Interlock may install add-ons on these managed clusters because other add-ons need them.
	// Allow lets it, Deny does not. The default is Allow. If several policies differ, Deny counts.
	// +optional
	// +kubebuilder:validation:Enum=Allow;Deny
	Install Install `json:"install,omitempty"`
}

// Install controls whether Interlock may install add-ons because other add-ons need them.
type Install string

const (
	// InstallAllow lets Interlock install them.
	InstallAllow Install = "Allow"
	// InstallDeny keeps Interlock from installing them. Installed add-ons stay.
	InstallDeny Install = "Deny"
)

// Protection is the reaction to a change that would break installed add-ons.
type Protection string

const (
	// ProtectionOff lets it pass.
	ProtectionOff Protection = "Off"
	// ProtectionWarn lets it pass with a warning.
	ProtectionWarn Protection = "Warn"
	// ProtectionEnforce refuses it.
	ProtectionEnforce Protection = "Enforce"
)

// DependencyOverride overrides one dependency of an add-on.
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

	// version is the range of versions that satisfies the dependency, instead of the declared range. "*" accepts any
	// version, known or not. It has no effect on a dependency on an API. Without it, the declared range counts.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// type is the type of the dependency, instead of the declared type. Without it, the declared type counts.
	// +optional
	// +kubebuilder:validation:Enum=Required;Optional;IfInstalled
	Type string `json:"type,omitempty"`

	// waive lets the dependency count as satisfied until a point in time, regardless of its state.
	// +optional
	Waive *DependencyWaiver `json:"waive,omitempty"`
}

// DependencyWaiver lets a dependency count as satisfied for a while.
type DependencyWaiver struct {
	// reason is the reason for the waiver. It is shown with the state of the add-on.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason"`

	// until is the time at which the waiver ends, at most 366 days from now.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	Until metav1.Time `json:"until"`
}

// AddOnDependencyPolicyStatus reports the effect of a policy.
type AddOnDependencyPolicyStatus struct {
	// conditions are the conditions Accepted and Conflicting.
	// +optional
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// observedGeneration is the generation of spec that status reports on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// addOns is the number of add-ons with a dependency that the policy overrides on at least one managed cluster.
	// +optional
	AddOns int32 `json:"addOns"`

	// clusters is the number of managed clusters on which the policy overrides a dependency, or sets protection or install.
	// +optional
	Clusters int32 `json:"clusters"`

	// overrides report the effect of each override, in the order of spec.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	Overrides []OverrideStatus `json:"overrides,omitempty"`
}

// OverrideStatus reports the effect of an override.
type OverrideStatus struct {
	// addOn is the add-on that declares the dependency.
	// +required
	// +kubebuilder:validation:MaxLength=253
	AddOn string `json:"addOn"`

	// dependency is the name of the dependency.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Dependency string `json:"dependency"`

	// clusters is the number of managed clusters that the policy selects and where the add-on is installed and declares the
	// dependency.
	// +required
	Clusters int32 `json:"clusters"`

	// ended is true where the override is a waiver that has ended. The dependency counts as declared.
	// +optional
	Ended bool `json:"ended,omitempty"`

	// message explains why the override has no effect, or that its waiver has ended. It is empty while the override is in effect.
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
