package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What an edge can require beyond the proposal. All of it is optional: without it,
// an edge is the proposal's.

// DependencyTypeIfInstalled indicates that the addon works without the dependency, but not beside a version of it
// that does not match.
const DependencyTypeIfInstalled DependencyType = "IfInstalled"

// DependencyTypeConflicts indicates that the addon does not work beside the named one, or beside its versions that
// match. It is no dependency: nothing waits for it, and it is on no cycle.
const DependencyTypeConflicts DependencyType = "Conflicts"

// AddOnVersionAnnotation says which version of an add-on runs. It stands, in the order in which it counts, on the
// lease that the add-on's agent renews on the managed cluster, on the AddOnTemplate that runs there, on the
// ManagedClusterAddOn, or on the ClusterManagementAddOn. Its value is a semantic version, with or without a leading v, or
// @ocm for the version of Open Cluster Management on the hub.
const AddOnVersionAnnotation = "dependency.addon.open-cluster-management.io/version"

// FormerVersionAnnotation is the former key of AddOnVersionAnnotation. It is still read on the lease, the
// ManagedClusterAddOn and the ClusterManagementAddOn, after all other sources. Open Cluster Management 1.3 removes
// annotations with the prefix addon.open-cluster-management.io from ManagedClusterAddOns.
const FormerVersionAnnotation = "addon.open-cluster-management.io/version"

// ForceAnnotation says, on a ManagedClusterAddOn or ClusterManagementAddOn, why it may be deleted although installed add-ons require it. An event
// records the deletion.
const ForceAnnotation = "dependency.addon.open-cluster-management.io/force"

// GateAnnotation is, on a ManagedClusterAddOn, the gate of its installation: GateClosed or GateOpen. While it is closed,
// OCM does not begin to install the add-on.
const GateAnnotation = "dependency.addon.open-cluster-management.io/gate"

// The values of GateAnnotation.
const (
	GateClosed = "closed"
	GateOpen   = "open"
)

// GateCauseAnnotation is, on a ManagedClusterAddOn, why admission closed its gate where that is not the order of installations:
// GateCauseContradiction.
const GateCauseAnnotation = "dependency.addon.open-cluster-management.io/gate-cause"

// GateCauseContradiction is the value of GateCauseAnnotation on an add-on that OCM has created, and that contradicts add-ons that
// are installed on the managed cluster, where AddOnDependencyPolicies or addon-manager webhook enforce protection.
const GateCauseContradiction = "Contradiction"

// WaitForDependentsFinalizer is on a ManagedClusterAddOn that may have to wait, when it is deleted, for add-ons on the managed cluster that
// are being deleted as well and depend on it. Admission sets it at creation, and addon-manager removes it.
const WaitForDependentsFinalizer = "dependency.addon.open-cluster-management.io/wait-for-dependents"

// TemplateDependenciesAnnotation declares, on an AddOnTemplate, the dependencies of the add-on that the template
// belongs to. It replaces all that the ClusterManagementAddOn declares, on the managed clusters where the template runs.
// Its value is as that of DependenciesAnnotation.
const TemplateDependenciesAnnotation = "dependency.addon.open-cluster-management.io/dependencies"

// TemplateVersionLabel is the label of an AddOnTemplate that counts where the template has no AddOnVersionAnnotation.
const TemplateVersionLabel = "app.kubernetes.io/version"

// DependencyPrereleases says which prereleases a version range accepts.
type DependencyPrereleases struct {
	// identifiers are the words of a prerelease that are accepted, each of letters, digits and hyphens: "beta" accepts 1.2.0-beta.3.
	// Empty accepts every prerelease.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^[0-9A-Za-z-]+$`
	// +listType=atomic
	Identifiers []string `json:"identifiers,omitempty"`
}

// InstallOnDemandAnnotation is the consent, on a ClusterManagementAddOn with the install strategy Manual, to installations by
// Interlock: with the value "true", Interlock creates a ManagedClusterAddOn where an edge with install Auto needs it.
const InstallOnDemandAnnotation = "dependency.addon.open-cluster-management.io/install-on-demand"

// UpgradeAnnotation is on a ManagedClusterAddOn. Its value is the name of an AddOnTemplate that does not wait for its dependencies there.
const UpgradeAnnotation = "dependency.addon.open-cluster-management.io/upgrade"

// BundleAnnotation is on a ClusterManagementAddOn. With the value "true", the add-on is a bundle: it has no agent, and is available
// where all that it requires is.
const BundleAnnotation = "dependency.addon.open-cluster-management.io/bundle"

// InstalledByLabel is on ManagedClusterAddOns that Interlock has created. Its value is InstalledByInterlock, or InstalledByPlugin
// where a user of kubectl addon install has created it.
const (
	InstalledByLabel     = "dependency.addon.open-cluster-management.io/installed-by"
	InstalledByInterlock = "interlock"
	InstalledByPlugin    = "kubectl-addon"
)

// ApproveInstallAnnotation is on a ClusterManagementAddOn. Its value is on how many managed clusters, at most, Interlock may have
// it installed by one change, where it would otherwise wait for an approval.
const ApproveInstallAnnotation = "dependency.addon.open-cluster-management.io/approve-install"

// ApproveRemovalAnnotation is on a ClusterManagementAddOn. Its value is from how many managed clusters, at most, Interlock may have
// it removed by one change, where it would otherwise wait for an approval.
const ApproveRemovalAnnotation = "dependency.addon.open-cluster-management.io/approve-removal"

// SettingsConfigPrefix begins the names of the AddOnDeploymentConfigs in which Interlock keeps settings. The name of the add-on follows.
const SettingsConfigPrefix = "interlock-"

// InstallLabelPrefix, with the name of an add-on, is the label of the ManagedClusters on which Interlock has the add-on installed. Its value
// is InstallLabelValue. The owner of an add-on consents by Placements that select the label.
const (
	InstallLabelPrefix = "install.dependency.addon.open-cluster-management.io/"
	InstallLabelValue  = "true"
)

// DependencyInstall says whether Interlock has an add-on installed that an edge needs.
// +kubebuilder:validation:Enum=Never;Auto
type DependencyInstall string

const (
	// DependencyInstallNever leaves that to users. It is the default.
	DependencyInstallNever DependencyInstall = "Never"
	// DependencyInstallAuto has it installed.
	DependencyInstallAuto DependencyInstall = "Auto"
)

// DependencyRemoval says what happens to an add-on that Interlock has installed, once no add-on on the managed cluster has an edge on it.
// +kubebuilder:validation:Enum=Keep;WithLastDependent
type DependencyRemoval string

const (
	// DependencyRemovalKeep leaves it installed. It is the default.
	DependencyRemovalKeep DependencyRemoval = "Keep"
	// DependencyRemovalWithLastDependent has it removed.
	DependencyRemovalWithLastDependent DependencyRemoval = "WithLastDependent"
)

// AddonAPI is an API, as the managed cluster's API server serves it.
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

// DependencyAPI is the API that an edge is on.
type DependencyAPI struct {
	AddonAPI `json:",inline"`

	// servedBy is whose API server must serve the API.
	// Valid values are:
	// - "ManagedCluster" (default): the managed cluster that the add-on is installed on.
	// - "Hub": the hub itself.
	// - "HostingCluster": the managed cluster that runs the add-on's agent. In OCM's hosted mode, the annotation
	//   addon.open-cluster-management.io/hosting-cluster-name of the ManagedClusterAddOn names it; without the annotation,
	//   it is the managed cluster itself.
	// +optional
	ServedBy APIServer `json:"servedBy,omitempty"`

	// fields are the fields that the schema of the API must have, where it is served: paths of property
	// names, such as "spec.rules.verbs". A path goes on into the items of a list and the values of a map.
	// Without a version, one version that is served must have all of them.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*$`
	// +listType=atomic
	Fields []string `json:"fields,omitempty"`
}

// DependencyAlternative is one of several add-ons and APIs. An edge needs any of them.
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

	// version is the range of versions of the add-on that satisfy the edge, as on an edge.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// prereleases lets prereleases satisfy version, as on an edge.
	// +optional
	Prereleases *DependencyPrereleases `json:"prereleases,omitempty"`

	// api is the API that satisfies the edge where the managed cluster serves it, as on an edge.
	// +optional
	API *DependencyAPI `json:"api,omitempty"`
}

// APIServer says whose API server must serve an API.
// +kubebuilder:validation:Enum=ManagedCluster;Hub;HostingCluster
type APIServer string

const (
	// APIServerManagedCluster is that of the managed cluster that the add-on is installed on.
	APIServerManagedCluster APIServer = "ManagedCluster"
	// APIServerHub is that of the hub.
	APIServerHub APIServer = "Hub"
	// APIServerHostingCluster is that of the managed cluster that runs the add-on's agent.
	APIServerHostingCluster APIServer = "HostingCluster"
)

// DependencyWhen says on which managed clusters an edge applies: where all that is given holds.
// +kubebuilder:validation:MinProperties=1
type DependencyWhen struct {
	// clusterSelector selects managed clusters by the labels of their ManagedCluster.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// expression is a CEL expression that is true where the edge applies. It knows
	// - cluster.name, cluster.labels, cluster.claims, cluster.version (of Kubernetes)
	// - addOn.name, addOn.labels, addOn.annotations (of the dependent's ManagedClusterAddOn)
	// - addOn.version (of the dependent, that runs on the cluster), with isSemver, semverMatches and semverCompare
	// - config: the customizedVariables of the first AddOnDeploymentConfig of the add-on on that cluster, the only one that it gets
	// - dependencies['name'].config: the customizedVariables of the add-on that the edge of this name is on
	// Where it fails, the edge applies.
	// Example: "config.?mode.orValue('') == 'proxy'"
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression,omitempty"`
}

// DependencyConfig is what the settings of an add-on must be that is depended on.
type DependencyConfig struct {
	// expression is a CEL expression that is true where the settings satisfy the edge. It knows
	// - config: the customizedVariables of the first AddOnDeploymentConfig of the add-on that is depended on
	// - cluster.name, cluster.labels, cluster.claims, cluster.version (of Kubernetes)
	// Where it fails, the edge is not satisfied.
	// Example: "config.?mode.orValue('') == 'grpc'"
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression"`

	// message describes what does not work with other settings. The default is the message of the edge.
	// +optional
	Message string `json:"message,omitempty"`
}

// AddonRequirements is what an add-on requires of the platform. What is not met counts as a Required dependency that
// is not satisfied.
type AddonRequirements struct {
	// interlock is a version range for Interlock itself, such as ">= 0.3": the declaration needs fields or rules that
	// older ones do not have. An Interlock outside of the range does not evaluate the declaration: conditions stay as
	// they are.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Interlock string `json:"interlock,omitempty"`

	// kubernetes is a version range for the managed cluster's Kubernetes, such as ">= 1.28".
	// What a vendor appends to the version does not count.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Kubernetes string `json:"kubernetes,omitempty"`

	// ocm is a version range for the hub's Open Cluster Management, such as ">= 1.1".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	OCM string `json:"ocm,omitempty"`

	// claims maps the names of the managed cluster's claims to version ranges. A value that is no range, such as "AWS",
	// is the claim's exact value.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Claims map[string]ClaimRequirement `json:"claims,omitempty"`
}

// ClaimRequirement is a version range, or the exact value of the claim.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=256
type ClaimRequirement string

// SettingsAnnotation is on an AddOnDeploymentConfig that Interlock keeps: the variables that it has set there, and those that
// it seals. What another writer changes is found by it.
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

	// policy says what counts where another writer sets a variable to another value.
	// Valid values are:
	// - "Default" (default): the other value.
	// - "Seal": the value of the edge. A change of it is put back.
	// +optional
	Policy SettingsPolicy `json:"policy,omitempty"`
}

// SettingsPolicy says what counts where another writer sets a variable to another value.
// +kubebuilder:validation:Enum=Default;Seal
type SettingsPolicy string

const (
	// SettingsDefault is that the value of the other writer counts.
	SettingsDefault SettingsPolicy = "Default"
	// SettingsSeal is that the value of the edge counts.
	SettingsSeal SettingsPolicy = "Seal"
)

// SettingVariable is a variable of an AddOnDeploymentConfig with its value, or where that comes from.
// +kubebuilder:validation:XValidation:rule="has(self.value) != has(self.valueFrom)",message="a variable has one of value and valueFrom"
type SettingVariable struct {
	// name is the name of the variable, of letters, digits and _, without a digit first.
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z_][_a-zA-Z0-9]*$`
	Name string `json:"name"`

	// value is the value of the variable. It can name a Secret, and must not be one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value,omitempty"`

	// valueFrom is a CEL expression for the value: a string of at most 1024 characters, or an optional one. It knows what
	// when.expression does.
	// Where it fails or has no value, the variable is not set.
	// Example: "cluster.labels[?'region']"
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	ValueFrom string `json:"valueFrom,omitempty"`

	// required is that the add-on is not installed for this edge while the variable has no value.
	// +optional
	Required bool `json:"required,omitempty"`
}
