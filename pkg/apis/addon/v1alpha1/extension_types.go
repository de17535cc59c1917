package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// This file has the types that Interlock adds to the proposal. All of them are optional: without them,
// an edge is the proposal's.

// DependencyTypeIfInstalled indicates that the addon works without the dependency, but not beside a version of it
// that is outside of the range.
const DependencyTypeIfInstalled DependencyType = "IfInstalled"

// DependencyTypeConflicts indicates that the addon does not work beside the named add-on, or beside its versions in the
// range. It is no dependency: no installation waits for it, and no cycle contains it.
const DependencyTypeConflicts DependencyType = "Conflicts"

// AddOnVersionAnnotation is the annotation with the version of an add-on that runs. Its value is a semantic version, with
// or without a leading v, or @ocm for the version of Open Cluster Management on the hub. Four objects can have it. In order
// of precedence, they are the lease that the add-on's agent renews on the managed cluster, the AddOnTemplate that runs
// there, the ManagedClusterAddOn, and the ClusterManagementAddOn.
const AddOnVersionAnnotation = "dependency.addon.open-cluster-management.io/version"

// FormerVersionAnnotation is the former key of AddOnVersionAnnotation. It is still read on the lease, the
// ManagedClusterAddOn and the ClusterManagementAddOn, after all other sources. Open Cluster Management 1.3 removes
// annotations with the prefix addon.open-cluster-management.io from ManagedClusterAddOns.
const FormerVersionAnnotation = "addon.open-cluster-management.io/version"

// ForceAnnotation is the annotation of a ManagedClusterAddOn or ClusterManagementAddOn that may be deleted although
// installed add-ons require it. Its value is the reason. An event records the deletion.
const ForceAnnotation = "dependency.addon.open-cluster-management.io/force"

// GateAnnotation is the annotation of a ManagedClusterAddOn with the gate of its installation: GateClosed or GateOpen.
// While the gate is closed, OCM does not begin to install the add-on.
const GateAnnotation = "dependency.addon.open-cluster-management.io/gate"

// The values of GateAnnotation.
const (
	GateClosed = "closed"
	GateOpen   = "open"
)

// GateCauseAnnotation is the annotation of a ManagedClusterAddOn with the cause for which admission closed its gate, where
// that is not the order of installations. Its only value is GateCauseContradiction.
const GateCauseAnnotation = "dependency.addon.open-cluster-management.io/gate-cause"

// GateCauseContradiction is the value of GateCauseAnnotation on an add-on that OCM created, and that contradicts add-ons
// that are installed on the managed cluster. Admission sets it where protection is enforced.
const GateCauseContradiction = "Contradiction"

// WaitForDependentsFinalizer is the finalizer of a ManagedClusterAddOn whose deletion may have to wait for dependents on the
// managed cluster that are being deleted as well. Admission sets it at creation, and addon-manager removes it.
const WaitForDependentsFinalizer = "dependency.addon.open-cluster-management.io/wait-for-dependents"

// TemplateDependenciesAnnotation is the annotation of an AddOnTemplate with the dependencies of its add-on. On the managed
// clusters where the template runs, it replaces the whole declaration of the ClusterManagementAddOn.
// Its value has the format of DependenciesAnnotation.
const TemplateDependenciesAnnotation = "dependency.addon.open-cluster-management.io/dependencies"

// TemplateVersionLabel is the label with the version of an AddOnTemplate that has no AddOnVersionAnnotation.
const TemplateVersionLabel = "app.kubernetes.io/version"

// DependencyPrereleases selects the prereleases that a version range accepts.
type DependencyPrereleases struct {
	// identifiers are the accepted words of a prerelease, each of letters, digits and hyphens: "beta" accepts 1.2.0-beta.3.
	// An empty list accepts every prerelease.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^[0-9A-Za-z-]+$`
	// +listType=atomic
	Identifiers []string `json:"identifiers,omitempty"`
}

// InstallOnDemandAnnotation is the annotation of a ClusterManagementAddOn with the install strategy Manual whose owner
// consents to installations by Interlock. With the value "true", Interlock creates a ManagedClusterAddOn where an edge with
// install Auto needs it.
const InstallOnDemandAnnotation = "dependency.addon.open-cluster-management.io/install-on-demand"

// UpgradeAnnotation is the annotation of a ManagedClusterAddOn with the name of an AddOnTemplate that does not wait for its
// dependencies there.
const UpgradeAnnotation = "dependency.addon.open-cluster-management.io/upgrade"

// BundleAnnotation is the annotation of a ClusterManagementAddOn that is a bundle, with the value "true". A bundle has no
// agent, and is available where everything that it requires is satisfied.
const BundleAnnotation = "dependency.addon.open-cluster-management.io/bundle"

// InstalledByLabel is the label of ManagedClusterAddOns that Interlock created. Its value is InstalledByInterlock, or
// InstalledByPlugin where a user of kubectl addon install created the add-on.
const (
	InstalledByLabel     = "dependency.addon.open-cluster-management.io/installed-by"
	InstalledByInterlock = "interlock"
	InstalledByPlugin    = "kubectl-addon"
)

// ApproveInstallAnnotation is the annotation of a ClusterManagementAddOn that approves installations by Interlock. Its value
// is the highest number of managed clusters on which one change may install the add-on without waiting for another approval.
const ApproveInstallAnnotation = "dependency.addon.open-cluster-management.io/approve-install"

// ApproveRemovalAnnotation is the annotation of a ClusterManagementAddOn that approves removals by Interlock. Its value is
// the highest number of managed clusters from which one change may remove the add-on without waiting for another approval.
const ApproveRemovalAnnotation = "dependency.addon.open-cluster-management.io/approve-removal"

// SettingsConfigPrefix is the prefix of the names of AddOnDeploymentConfigs in which Interlock keeps settings. The name of
// the add-on follows.
const SettingsConfigPrefix = "interlock-"

// InstallLabelPrefix, followed by the name of an add-on, is the label of the ManagedClusters on which Interlock has the
// add-on installed. Its value is InstallLabelValue. The owner of an add-on consents by Placements that select the label.
const (
	InstallLabelPrefix = "install.dependency.addon.open-cluster-management.io/"
	InstallLabelValue  = "true"
)

// DependencyInstall is the rule for an add-on that an edge needs and that is not installed.
// +kubebuilder:validation:Enum=Never;Auto
type DependencyInstall string

const (
	// DependencyInstallNever leaves the installation to users. It is the default.
	DependencyInstallNever DependencyInstall = "Never"
	// DependencyInstallAuto lets Interlock install the add-on.
	DependencyInstallAuto DependencyInstall = "Auto"
)

// DependencyRemoval is the rule for an add-on that Interlock installed, once no add-on on the managed cluster has an edge on it.
// +kubebuilder:validation:Enum=Keep;WithLastDependent
type DependencyRemoval string

const (
	// DependencyRemovalKeep leaves it installed. It is the default.
	DependencyRemovalKeep DependencyRemoval = "Keep"
	// DependencyRemovalWithLastDependent lets Interlock remove it.
	DependencyRemovalWithLastDependent DependencyRemoval = "WithLastDependent"
)

// AddonAPI is an API that an API server serves.
type AddonAPI struct {
	// group is the API group without its version, such as "apps"; empty is the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Group string `json:"group,omitempty"`

	// version is a version of the API, such as "v1beta1"; empty is any version.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z]([-a-z0-9]*[a-z0-9])?)?$`
	Version string `json:"version,omitempty"`

	// kind is the API's kind, such as "ClusterPermission".
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`
	Kind string `json:"kind"`
}

// DependencyAPI is an API that an add-on depends on.
type DependencyAPI struct {
	AddonAPI `json:",inline"`

	// servedBy is the API server that must serve the API.
	// Valid values are:
	// - "ManagedCluster" (default): the managed cluster that the add-on is installed on.
	// - "Hub": the hub itself.
	// - "HostingCluster": the managed cluster that runs the add-on's agent. In OCM's hosted mode, the annotation
	//   addon.open-cluster-management.io/hosting-cluster-name of the ManagedClusterAddOn names it; without the annotation,
	//   it is the managed cluster itself.
	// +optional
	ServedBy APIServer `json:"servedBy,omitempty"`

	// fields are the fields that the schema of the API must have, where it is served: paths of property
	// names, such as "spec.rules.verbs". A path continues into the items of a list and the values of a map.
	// Without a version, at least one served version must have all fields.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*$`
	// +listType=atomic
	Fields []string `json:"fields,omitempty"`
}

// DependencyAlternative is an add-on or an API that satisfies an edge with anyOf. One satisfied alternative is enough.
// +structType=atomic
// +kubebuilder:validation:XValidation:rule="has(self.addOn) != has(self.api)",message="an alternative is an add-on or an API: set one of addOn and api"
// +kubebuilder:validation:XValidation:rule="!has(self.version) || has(self.addOn)",message="version is a range for an add-on; the version of an API is api.version",fieldPath=".version"
// +kubebuilder:validation:XValidation:rule="!has(self.prereleases) || has(self.version)",message="prereleases needs version",fieldPath=".prereleases"
type DependencyAlternative struct {
	// addOn is the add-on that satisfies the edge where it is available.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	AddOn string `json:"addOn,omitempty"`

	// version is the range of versions of the add-on that satisfy the edge, with the syntax of version on an edge.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// prereleases are the prereleases that satisfy version, as on an edge. By default, only releases do.
	// +optional
	Prereleases *DependencyPrereleases `json:"prereleases,omitempty"`

	// api is the API that satisfies the edge where the managed cluster serves it, or the cluster that api.servedBy names.
	// +optional
	API *DependencyAPI `json:"api,omitempty"`
}

// APIServer is the API server that must serve an API.
// +kubebuilder:validation:Enum=ManagedCluster;Hub;HostingCluster
type APIServer string

const (
	// APIServerManagedCluster is the API server of the managed cluster that the add-on is installed on.
	APIServerManagedCluster APIServer = "ManagedCluster"
	// APIServerHub is the API server of the hub.
	APIServerHub APIServer = "Hub"
	// APIServerHostingCluster is the API server of the managed cluster that runs the add-on's agent.
	APIServerHostingCluster APIServer = "HostingCluster"
)

// DependencyWhen selects the managed clusters on which an edge applies. All conditions that are set must be true.
// +kubebuilder:validation:MinProperties=1
type DependencyWhen struct {
	// clusterSelector selects managed clusters by the labels of their ManagedCluster.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// expression is a CEL expression that is true where the edge applies. Its variables are
	// - cluster.name, cluster.labels, cluster.claims, cluster.version (of Kubernetes)
	// - addOn.name, addOn.labels, addOn.annotations (of the dependent's ManagedClusterAddOn)
	// - addOn.version (of the dependent that runs on the cluster), with isSemver, semverMatches and semverCompare
	// - config: the customizedVariables of the dependent's first AddOnDeploymentConfig on that cluster; OCM applies no other
	// - dependencies['name'].config: the customizedVariables of the add-on that the edge with this name is on
	// If the evaluation fails, the edge applies.
	// Example: "config.?mode.orValue('') == 'proxy'"
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression,omitempty"`
}

// DependencyConfig is a condition on the settings of the dependency.
type DependencyConfig struct {
	// expression is a CEL expression that is true where the settings satisfy the edge. Its variables are
	// - config: the customizedVariables of the first AddOnDeploymentConfig of the dependency
	// - cluster.name, cluster.labels, cluster.claims, cluster.version (of Kubernetes)
	// If the evaluation fails, the edge is not satisfied.
	// Example: "config.?mode.orValue('') == 'grpc'"
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression"`

	// message describes the loss of function with other settings. The default is the message of the edge.
	// +optional
	Message string `json:"message,omitempty"`
}

// AddonRequirements are the requirements of an add-on on its platform. A requirement that is not met counts as a Required
// dependency that is not satisfied.
type AddonRequirements struct {
	// interlock is a version range for Interlock itself, such as ">= 0.3", for a declaration that needs fields or rules
	// which older versions do not have. An Interlock outside of the range does not evaluate the declaration, and
	// conditions keep their values.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Interlock string `json:"interlock,omitempty"`

	// kubernetes is a version range for the managed cluster's Kubernetes, such as ">= 1.28".
	// A suffix that a vendor appends to the version does not count.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Kubernetes string `json:"kubernetes,omitempty"`

	// ocm is a version range for the hub's Open Cluster Management, such as ">= 1.1".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	OCM string `json:"ocm,omitempty"`

	// claims maps the names of the managed cluster's claims to version ranges. A value that is not a range, such as "AWS",
	// is the exact value that the claim must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Claims map[string]ClaimRequirement `json:"claims,omitempty"`
}

// ClaimRequirement is a version range, or the exact value of the claim.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=256
type ClaimRequirement string

// SettingsAnnotation is the annotation of an AddOnDeploymentConfig that Interlock keeps. Its value lists the variables that
// Interlock set, and the variables that it seals. Interlock compares it with the variables to detect other writers, and
// records there how often they have undone the settings, and until when it leaves them undone.
const SettingsAnnotation = "dependency.addon.open-cluster-management.io/settings"

// DependencySettings are variables that an add-on gets where Interlock installs it.
type DependencySettings struct {
	// variables are set in an AddOnDeploymentConfig that Interlock keeps for the add-on on each managed cluster.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Variables []SettingVariable `json:"variables"`

	// policy selects the value to use where another writer sets a variable to a different value.
	// Valid values are:
	// - "Default" (default): the value of the other writer.
	// - "Seal": the value of the edge. Interlock reverts changes by others.
	// +optional
	Policy SettingsPolicy `json:"policy,omitempty"`
}

// SettingsPolicy selects the value to use where another writer sets a variable to a different value.
// +kubebuilder:validation:Enum=Default;Seal
type SettingsPolicy string

const (
	// SettingsDefault selects the value of the other writer.
	SettingsDefault SettingsPolicy = "Default"
	// SettingsSeal selects the value of the edge.
	SettingsSeal SettingsPolicy = "Seal"
)

// SettingVariable is a variable of an AddOnDeploymentConfig with its value, or an expression for the value.
// +kubebuilder:validation:XValidation:rule="has(self.value) != has(self.valueFrom)",message="a variable has one of value and valueFrom"
type SettingVariable struct {
	// name is the name of the variable, of letters, digits and _, without a digit first.
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z_][_a-zA-Z0-9]*$`
	Name string `json:"name"`

	// value is the value of the variable. It can name a Secret, but must not contain a secret.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value,omitempty"`

	// valueFrom is a CEL expression for the value: a string of at most 1024 characters, or an optional string. It has the
	// variables of when.expression.
	// If the evaluation fails or has no value, the variable is not set.
	// Example: "cluster.labels[?'region']"
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	ValueFrom string `json:"valueFrom,omitempty"`

	// required prevents the installation of the add-on for this edge while the variable has no value.
	// The default is false.
	// +optional
	Required bool `json:"required,omitempty"`
}
