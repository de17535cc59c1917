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
	// At most 256 may be declared, because each is evaluated on every managed cluster.
	// They may have at most 16 expressions, in when and config; when.clusterSelector has no such limit.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.filter(d, has(d.when) && has(d.when.expression)).size() + self.filter(d, has(d.config)).size() <= 16",message="at most 16 expressions may be in when and config; when.clusterSelector has no such limit"
	Dependencies []AddonDependency `json:"dependencies,omitempty"`

	// requirements are the requirements of the add-on on the platform that it runs on.
	// +optional
	Requirements *AddonRequirements `json:"requirements,omitempty"`

	// provides lists the APIs that the add-on brings to a managed cluster. A message about a missing API then names
	// the add-on.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	Provides []AddonAPI `json:"provides,omitempty"`

	// ordering selects the changes of the add-on that wait for its dependencies. It has an effect where Interlock's
	// lifecycle is turned on, see docs/ordering.md.
	// Valid values are:
	// - "None" (default): no change waits. OCM installs the add-on at once.
	// - "Install": the first installation on a managed cluster waits until all Required dependencies and requirements are
	//   satisfied there.
	// - "InstallAndUpgrade": the first installation waits as with "Install". Where the add-on is installed, another
	//   AddOnTemplate of it waits until all dependencies and requirements of that template are satisfied there.
	// +optional
	Ordering Ordering `json:"ordering,omitempty"`
}

// Ordering selects the changes of an add-on that wait for its dependencies.
// +kubebuilder:validation:Enum=None;Install;InstallAndUpgrade
type Ordering string

const (
	// OrderingNone lets no change wait.
	OrderingNone Ordering = "None"
	// OrderingInstall lets the first installation on a managed cluster wait.
	OrderingInstall Ordering = "Install"
	// OrderingInstallAndUpgrade lets the first installation wait, and each other AddOnTemplate.
	OrderingInstallAndUpgrade Ordering = "InstallAndUpgrade"
)

// AddonDependency represents a dependency on another add-on.
// +kubebuilder:validation:XValidation:rule="!has(self.addOn) || !has(self.api)",message="an edge is on an add-on or on an API: set addOn or api, not both",fieldPath=".addOn"
// +kubebuilder:validation:XValidation:rule="!has(self.version) || !has(self.api)",message="version is a range for an add-on; the version of an API is api.version",fieldPath=".version"
// +kubebuilder:validation:XValidation:rule="!has(self.prereleases) || has(self.version)",message="prereleases needs version",fieldPath=".prereleases"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'IfInstalled' || has(self.version)",message="type IfInstalled needs version: without a range it requires nothing",fieldPath=".type"
// +kubebuilder:validation:XValidation:rule="!has(self.tolerate) || !has(self.api) && (!has(self.type) || self.type in ['Required', 'Optional'])",message="tolerate is for an add-on that has to be available: a Required or an Optional one",fieldPath=".tolerate"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Conflicts' || !has(self.api)",message="type Conflicts is for an add-on, not for an API",fieldPath=".type"
// +kubebuilder:validation:XValidation:rule="!has(self.anyOf) || !has(self.addOn)",message="addOn excludes anyOf: each alternative names its own add-on",fieldPath=".addOn"
// +kubebuilder:validation:XValidation:rule="!has(self.anyOf) || !has(self.version)",message="version excludes anyOf: each alternative has its own range",fieldPath=".version"
// +kubebuilder:validation:XValidation:rule="!has(self.anyOf) || !has(self.prereleases)",message="prereleases excludes anyOf: each alternative has its own",fieldPath=".prereleases"
// +kubebuilder:validation:XValidation:rule="!has(self.anyOf) || !has(self.api)",message="api excludes anyOf: each alternative names its own API",fieldPath=".api"
// +kubebuilder:validation:XValidation:rule="!has(self.anyOf) || !has(self.tolerate)",message="tolerate excludes anyOf: alternatives tolerate nothing",fieldPath=".tolerate"
// +kubebuilder:validation:XValidation:rule="!has(self.anyOf) || !has(self.install)",message="install excludes anyOf: none of the alternatives is preferred",fieldPath=".install"
// +kubebuilder:validation:XValidation:rule="!has(self.install) || self.install != 'Auto' || !has(self.type) || self.type in ['Required', 'Optional']",message="install Auto is for a Required or an Optional edge",fieldPath=".install"
// +kubebuilder:validation:XValidation:rule="!has(self.install) || self.install != 'Auto' || !has(self.api) || !has(self.api.servedBy) || self.api.servedBy == 'ManagedCluster'",message="install Auto is for an API that the managed cluster serves",fieldPath=".install"
// +kubebuilder:validation:XValidation:rule="!has(self.removal) || self.removal != 'WithLastDependent' || has(self.install) && self.install == 'Auto'",message="removal WithLastDependent needs install Auto: only what Interlock has installed is removed",fieldPath=".removal"
// +kubebuilder:validation:XValidation:rule="!has(self.settings) || has(self.install) && self.install == 'Auto'",message="settings needs install Auto: they are set only where Interlock installs the add-on",fieldPath=".settings"
// +kubebuilder:validation:XValidation:rule="!has(self.settings) || !has(self.api)",message="settings is for an add-on, not for an API",fieldPath=".settings"
// +kubebuilder:validation:XValidation:rule="!has(self.config) || !has(self.api) && (!has(self.type) || self.type != 'Conflicts')",message="config is for an add-on that is depended on, not for an API or a conflict",fieldPath=".config"
// +kubebuilder:validation:XValidation:rule="!has(self.anyOf) || !has(self.config)",message="config excludes anyOf: the settings of alternatives are not checked",fieldPath=".config"
// +kubebuilder:validation:XValidation:rule="!has(self.anyOf) || !has(self.type) || self.type in ['Required', 'Optional']",message="type must be Required or Optional where anyOf is set",fieldPath=".type"
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
	// - "IfInstalled": The addon works without this dependency, but not beside a version of it outside of the range.
	//   Where the dependency is not installed, the edge is satisfied. Where its version is outside of the range, the
	//   edge counts as a Required dependency that is not satisfied.
	// - "Conflicts": The addon does not work beside the named add-on, or beside its versions in the range.
	//   Where no such version is installed, the edge is satisfied. Otherwise, it counts as a Required dependency that
	//   is not satisfied.
	// +optional
	// +kubebuilder:validation:Enum=Optional;Required;IfInstalled;Conflicts
	// +kubebuilder:default=Required
	Type DependencyType `json:"type,omitempty"`

	// message is a human-readable message describing what functionality will be impacted
	// when this dependency is not satisfied.
	// This is particularly useful for Optional dependencies to inform users about the reduced functionality.
	// The message will be included in the Degraded condition when the dependency is not satisfied.
	// Example: "Token-based access to managed clusters is unavailable"
	// +optional
	Message string `json:"message,omitempty"`

	// docs is a link to a page that explains the dependency, such as "https://example.com/addons/gateway#needs".
	// The message of the Degraded condition shows it when the dependency is not satisfied.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?([/?#][A-Za-z0-9._~:/?#@!$&'*+,;=%-]*)?$`
	Docs string `json:"docs,omitempty"`

	// addOn is the name of the dependency, if name is only a local name, so that two edges can be on the same add-on.
	// The default is name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	AddOn string `json:"addOn,omitempty"`

	// version is the range of versions of the add-on that satisfy the edge, such as ">= 0.6.0 < 1.0.0".
	// "*" accepts every version, and also an unknown version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// prereleases are the prereleases that satisfy version: all of them if it is empty, else those with one of its
	// identifiers. By default, only releases satisfy version.
	// +optional
	Prereleases *DependencyPrereleases `json:"prereleases,omitempty"`

	// api is an API that the add-on depends on, instead of an add-on: the managed cluster must serve it, or the cluster
	// that api.servedBy names. name is then a local name.
	// +optional
	API *DependencyAPI `json:"api,omitempty"`

	// anyOf are alternatives: at least one has to satisfy the edge. name is then a local name, and type is Required or
	// Optional. An alternative that waits for the dependent itself never satisfies the edge.
	// +optional
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=8
	// +listType=set
	AnyOf []DependencyAlternative `json:"anyOf,omitempty"`

	// tolerate is how long an add-on that becomes unavailable still satisfies the edge, such as "2m": from 1s to 24h.
	// Without it, the edge fails at once. An add-on that is not installed, or has a version outside of the range, always
	// fails at once.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h"
	Tolerate string `json:"tolerate,omitempty"`

	// install is the rule for clusters where the edge applies and the add-on is not installed. For an edge on an API, it is
	// about the add-on that provides the API, if exactly one add-on does.
	// Valid values are:
	// - "Never" (default): users install the add-on.
	// - "Auto": Interlock has it installed, if it runs with --lifecycle, the owner of the add-on has consented in its
	//   ClusterManagementAddOn, and no AddOnDependencyPolicy denies it.
	// +optional
	Install DependencyInstall `json:"install,omitempty"`

	// removal is the rule for an add-on that Interlock installed, once no add-on on the managed cluster has an edge on it.
	// Interlock removes it only if all edges on the add-on with install Auto agree.
	// Valid values are:
	// - "Keep" (default): it stays.
	// - "WithLastDependent": Interlock has it removed later, by default after an hour.
	// +optional
	Removal DependencyRemoval `json:"removal,omitempty"`

	// settings are variables that the add-on gets where Interlock installs it because of install Auto. They are set where
	// the add-on has the install strategy Manual.
	// +optional
	Settings *DependencySettings `json:"settings,omitempty"`

	// config is a condition on the settings of the add-on where it is installed. It is checked once everything else
	// satisfies the edge.
	// +optional
	Config *DependencyConfig `json:"config,omitempty"`

	// when limits the edge to some managed clusters. On other clusters, the edge does not apply. Without it, the edge
	// applies on all clusters.
	// +optional
	When *DependencyWhen `json:"when,omitempty"`
}

// DependencyType describes the type of dependency
// +kubebuilder:validation:Enum=Optional;Required;IfInstalled;Conflicts
type DependencyType string

const (
	// DependencyTypeOptional indicates the addon can work with reduced functionality without this dependency
	DependencyTypeOptional DependencyType = "Optional"
	// DependencyTypeRequired indicates the addon cannot function without this dependency
	DependencyTypeRequired DependencyType = "Required"
)

// DependenciesAnnotation on a ClusterManagementAddOn declares dependencies
// where the CRD may not be touched. Its value is YAML or JSON, with the same
// validation as the fields: the list of spec.dependencies, or an object with
// dependencies, requirements, provides and ordering. Where one of these fields is
// present in spec, they count and the annotation does not.
const DependenciesAnnotation = "addon.open-cluster-management.io/dependencies"

// RecordAnnotation marks the value of DependenciesAnnotation as a record of the
// fields in spec, which Interlock keeps so that a declaration is not lost when the
// CRD loses the fields. Its value is a digest of the record. Where the digest does
// not match, the annotation was written by hand, and Interlock leaves it alone.
const RecordAnnotation = "dependency.addon.open-cluster-management.io/record"

// +kubebuilder:object:root=true

// ClusterManagementAddOnList is a collection of cluster management add-ons.
type ClusterManagementAddOnList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is a list of cluster management add-ons.
	Items []ClusterManagementAddOn `json:"items"`
}
