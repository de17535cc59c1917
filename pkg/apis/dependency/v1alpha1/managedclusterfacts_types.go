package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of the schema: an object that breaks one is refused as a whole.
const (
	// MaxRequests is how many APIs, and how many add-ons, can be requested of one cluster.
	MaxRequests = 512
	// MaxFields is how many fields of schemas can be requested of one cluster, of all APIs together.
	MaxFields = 512
	// MaxVersions is how many versions of one API can be reported.
	MaxVersions = 32
	// MaxVersionLength is how long an add-on's version can be, in characters.
	MaxVersionLength = 128
	// MaxMessageLength is how long a message can be, in characters.
	MaxMessageLength = 512
)

// AggregateToCountLabel is the label of ClusterRoles on managed clusters whose rules addon-agent gets, if the value is
// "true": a provider of APIs ships one with the right to list their objects, so that addon-agent can count these.
const AggregateToCountLabel = "dependency.addon.open-cluster-management.io/aggregate-to-count"

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=managedclusterfacts,singular=managedclusterfacts,shortName=mcfacts,categories=ocm
// +kubebuilder:printcolumn:name="APIs served",type=string,JSONPath=`.status.apisServed`,description="How many of the requested APIs the cluster serves"
// +kubebuilder:printcolumn:name="Versions known",type=string,JSONPath=`.status.versionsKnown`,description="Of how many of the requested add-ons the version is known"
// +kubebuilder:printcolumn:name="Requested",type=integer,JSONPath=`.metadata.generation`,description="Generation of the request"
// +kubebuilder:printcolumn:name="Reported",type=integer,JSONPath=`.status.observedGeneration`,description="Generation of the request that the agent has reported on; empty: none yet"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// ManagedClusterFacts is what dependencies need to know of one managed cluster, and what addon-agent found
// there. It is in the cluster's namespace on the hub and has the cluster's name. It exists while any dependency needs it, or
// an add-on there provides APIs: addon-manager writes spec, addon-agent writes status.
type ManagedClusterFacts struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is requested. addon-manager writes it, and restores it where another writer changes it.
	// +optional
	Spec ManagedClusterFactsSpec `json:"spec,omitempty"`

	// status is what was found. addon-agent writes it when it changes.
	// +optional
	Status ManagedClusterFactsStatus `json:"status,omitempty"`
}

// ManagedClusterFactsSpec is what is requested of the cluster.
type ManagedClusterFactsSpec struct {
	// apis are the APIs that a dependency of an add-on on this cluster names, sorted.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	APIs []APIRequest `json:"apis,omitempty"`

	// addOns are the add-ons whose running version such a dependency needs, sorted by name.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	AddOns []AddOn `json:"addOns,omitempty"`

	// objects are the kinds that an add-on on this cluster provides, sorted. Their objects are counted.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	Objects []ObjectKind `json:"objects,omitempty"`
}

// ObjectKind is a kind of objects, in any version of its API.
type ObjectKind struct {
	// group is the API group; empty is the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Group string `json:"group,omitempty"`

	// kind is the API's kind.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`
	Kind string `json:"kind"`
}

// API is one kind that the cluster's API server may serve.
type API struct {
	// group is the API group; empty is the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Group string `json:"group,omitempty"`

	// version is a version of the API; empty is any version.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z]([-a-z0-9]*[a-z0-9])?)?$`
	Version string `json:"version,omitempty"`

	// kind is the API's kind.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`
	Kind string `json:"kind"`
}

// APIRequest is an API that a dependency names, with the fields that its schema must have.
type APIRequest struct {
	API `json:",inline"`

	// fields are the paths of the fields, sorted.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=atomic
	Fields []string `json:"fields,omitempty"`
}

// AddOn is an add-on on the cluster.
type AddOn struct {
	// name is the add-on's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ManagedClusterFactsStatus is what was found on the cluster.
type ManagedClusterFactsStatus struct {
	// observedGeneration is the generation of spec that status reports on in full. Where metadata.generation is higher, the
	// agent has not reported everything yet, or does not run.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// agentAddOn is the ManagedClusterAddOn of addon-agent itself, where it runs as an add-on. Its condition Available is the
	// agent's sign of life: once that has ended, what status says counts as unknown. Empty: the agent has no sign of life,
	// and what it has reported counts until it reports something else.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AgentAddOn string `json:"agentAddOn,omitempty"`

	// apisServed is how many of the requested APIs are served: "2/3".
	// +optional
	// +kubebuilder:validation:MaxLength=32
	APIsServed string `json:"apisServed,omitempty"`

	// versionsKnown is of how many of the requested add-ons the version is known: "1/2".
	// +optional
	// +kubebuilder:validation:MaxLength=32
	VersionsKnown string `json:"versionsKnown,omitempty"`

	// apis are the reports on APIs, in the order of spec. One without a report yet is missing.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	APIs []APIFact `json:"apis,omitempty"`

	// addOns are the reports on add-ons, in the order of spec. One without a report yet is missing.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	AddOns []AddOnFact `json:"addOns,omitempty"`

	// objects are the reports on the objects of kinds, in the order of spec. One without a report yet is missing.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	Objects []ObjectsFact `json:"objects,omitempty"` //nolint:kubeapilinter // ObjectKind, which is inlined, has required fields
}

// ObjectsFact reports how many objects of a kind exist on the cluster.
type ObjectsFact struct {
	ObjectKind `json:",inline"`

	// count is how many objects exist, or at least exist. It is missing where that is not known, and then reason and
	// message say why.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Count *int64 `json:"count,omitempty"`

	// atLeast is true where there may be more objects than count: more than 10 are rounded down to one significant digit.
	// +optional
	AtLeast bool `json:"atLeast,omitempty"`

	// reason is why no count is known.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason FactReason `json:"reason,omitempty"`

	// message is the reason in words.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// APIFact reports whether the cluster serves an API.
type APIFact struct {
	API `json:",inline"`

	// served is True where the API server serves the kind, in the version requested or in any; False where it does not;
	// Unknown where that could not be found out, and then reason and message say why.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Served metav1.ConditionStatus `json:"served"`

	// versions are all versions in which the kind is served, in the API server's order of preference.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Versions []string `json:"versions,omitempty"`

	// fields are the reports on the requested fields, in the order of spec, where the API is served. An agent that does not
	// support fields reports none.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	Fields []FieldFact `json:"fields,omitempty"`

	// reason is why served is Unknown, or why a field is.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason FactReason `json:"reason,omitempty"`

	// message is the reason in words.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// FieldFact reports whether the schema of an API has a field.
type FieldFact struct {
	// path is the path of the field, as requested.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Path string `json:"path"`

	// found is True where the schema of the requested version has the field, or that of any version if none is requested;
	// False where it does not; Unknown where a schema could not be read.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Found metav1.ConditionStatus `json:"found"`

	// versions are the versions whose schema has the field, in the API server's order of preference.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Versions []string `json:"versions,omitempty"`
}

// AddOnFact reports which version of an add-on runs on the cluster.
type AddOnFact struct {
	AddOn `json:",inline"`

	// version is what the add-on's agent reports by the annotation dependency.addon.open-cluster-management.io/version of
	// its lease. Empty: it is not known, and reason and message say why.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// formerAnnotation is true where the lease has the version only under the annotation's former key,
	// addon.open-cluster-management.io/version. Such a version counts after all other sources.
	// +optional
	FormerAnnotation bool `json:"formerAnnotation,omitempty"`

	// reason is why no version is known.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason FactReason `json:"reason,omitempty"`

	// message is the reason in words.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// FactReason says why something could not be found out.
type FactReason string

// The reasons.
const (
	// ReasonDiscoveryFailed: the API server, or the one that it delegates the API to, did not report what it serves.
	ReasonDiscoveryFailed FactReason = "DiscoveryFailed"
	// ReasonSchemaNotPublished: the API server did not publish the schema of an API that it serves.
	ReasonSchemaNotPublished FactReason = "SchemaNotPublished"
	// ReasonForbidden: the agent lacks a right on the managed cluster.
	ReasonForbidden FactReason = "Forbidden"
	// ReasonCountFailed: the API server, or the one that it delegates the API to, did not list the objects of a kind.
	ReasonCountFailed FactReason = "CountFailed"
	// ReasonNotInstalled: the cluster has no ManagedClusterAddOn of the name.
	ReasonNotInstalled FactReason = "NotInstalled"
	// ReasonLeaseNotFound: the add-on has no lease.
	ReasonLeaseNotFound FactReason = "LeaseNotFound"
	// ReasonVersionNotReported: the add-on's lease has no annotation with a version.
	ReasonVersionNotReported FactReason = "VersionNotReported"
	// ReasonVersionUnusable: the annotation is not something that can be a version.
	ReasonVersionUnusable FactReason = "VersionUnusable"
)

// FactReasons lists every FactReason.
var FactReasons = []FactReason{
	ReasonDiscoveryFailed, ReasonSchemaNotPublished, ReasonForbidden, ReasonCountFailed,
	ReasonNotInstalled, ReasonLeaseNotFound, ReasonVersionNotReported, ReasonVersionUnusable,
}

// +kubebuilder:object:root=true

// ManagedClusterFactsList is a list of ManagedClusterFacts.
type ManagedClusterFactsList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is a list of ManagedClusterFacts.
	Items []ManagedClusterFacts `json:"items"`
}
