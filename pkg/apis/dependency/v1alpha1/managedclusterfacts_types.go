package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of the schema. An object that exceeds a limit is refused as a whole.
const (
	// MaxRequests is the highest number of APIs, and also of add-ons, that can be requested of one cluster.
	MaxRequests = 512
	// MaxFields is the highest number of schema fields that can be requested of one cluster, for all APIs together.
	MaxFields = 512
	// MaxVersions is the highest number of versions that can be reported for one API.
	MaxVersions = 32
	// MaxVersionLength is the maximum length of an add-on's version, in characters.
	MaxVersionLength = 128
	// MaxMessageLength is the maximum length of a message, in characters.
	MaxMessageLength = 512
)

// AggregateToCountLabel is a label of ClusterRoles on managed clusters. With the value "true", addon-agent gets the rules of
// the role. A provider of APIs ships such a role with the right to list their objects, so that addon-agent can count them.
const AggregateToCountLabel = "dependency.addon.open-cluster-management.io/aggregate-to-count"

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=managedclusterfacts,singular=managedclusterfacts,shortName=mcfacts,categories=ocm
// +kubebuilder:printcolumn:name="APIs served",type=string,JSONPath=`.status.apisServed`,description="How many of the requested APIs the cluster serves"
// +kubebuilder:printcolumn:name="Versions known",type=string,JSONPath=`.status.versionsKnown`,description="Of how many of the requested add-ons the version is known"
// +kubebuilder:printcolumn:name="Requested",type=integer,JSONPath=`.metadata.generation`,description="Generation of the request"
// +kubebuilder:printcolumn:name="Reported",type=integer,JSONPath=`.status.observedGeneration`,description="Generation of the request that the agent has reported on; empty: none yet"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// ManagedClusterFacts requests and reports facts about one managed cluster, for the evaluation of dependencies. It is in
// the cluster's namespace on the hub and has the cluster's name. It exists while a dependency needs facts, or an add-on on
// the cluster provides APIs. addon-manager writes spec, addon-agent writes status.
type ManagedClusterFacts struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec lists the requested facts. addon-manager writes it, and restores it when another writer changes it.
	// +optional
	Spec ManagedClusterFactsSpec `json:"spec,omitempty"`

	// status has the reported facts. addon-agent writes it when a fact changes.
	// +optional
	Status ManagedClusterFactsStatus `json:"status,omitempty"`
}

// ManagedClusterFactsSpec lists the facts that are requested of the cluster.
type ManagedClusterFactsSpec struct {
	// apis are the APIs that dependencies of add-ons on this cluster name, sorted.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	APIs []APIRequest `json:"apis,omitempty"`

	// addOns are the add-ons to report the running version of, because a dependency needs it, sorted by name.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	AddOns []AddOn `json:"addOns,omitempty"`

	// objects are the kinds that add-ons on this cluster provide, sorted. The agent counts their objects.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	Objects []ObjectKind `json:"objects,omitempty"`
}

// ObjectKind is a kind of objects, in any version of its API.
type ObjectKind struct {
	// group is the API group. Empty means the core group.
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

// API is a kind that the cluster's API server may serve.
type API struct {
	// group is the API group. Empty means the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Group string `json:"group,omitempty"`

	// version is a version of the API. Empty means any version.
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

// APIRequest is an API that a dependency names, with the fields that the dependency requires of its schema.
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

// ManagedClusterFactsStatus has the facts that the agent reported.
type ManagedClusterFactsStatus struct {
	// observedGeneration is the last generation of spec that status reports on in full. Where metadata.generation is higher,
	// the agent has not reported everything yet, or does not run.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// agentAddOn is the name of the ManagedClusterAddOn of addon-agent itself, where it runs as an add-on. Its condition
	// Available shows whether the agent is alive. While it is not, all facts in status count as unknown. If agentAddOn is
	// empty, Interlock cannot tell whether the agent is alive, and reported facts count until the agent replaces them.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AgentAddOn string `json:"agentAddOn,omitempty"`

	// apisServed is the number of served APIs, and of requested APIs, such as "2/3".
	// +optional
	// +kubebuilder:validation:MaxLength=32
	APIsServed string `json:"apisServed,omitempty"`

	// versionsKnown is the number of add-ons with a known version, and of requested add-ons, such as "1/2".
	// +optional
	// +kubebuilder:validation:MaxLength=32
	VersionsKnown string `json:"versionsKnown,omitempty"`

	// apis are the reports on APIs, in the order of spec. An API without a report yet is missing.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	APIs []APIFact `json:"apis,omitempty"`

	// addOns are the reports on add-ons, in the order of spec. An add-on without a report yet is missing.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	AddOns []AddOnFact `json:"addOns,omitempty"`

	// objects are the reports on kinds of objects, in the order of spec. A kind without a report yet is missing.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	Objects []ObjectsFact `json:"objects,omitempty"` //nolint:kubeapilinter // ObjectKind, which is inlined, has required fields
}

// ObjectsFact reports how many objects of a kind exist on the cluster.
type ObjectsFact struct {
	ObjectKind `json:",inline"`

	// count is the number of objects, or a lower bound of it if atLeast is true. It is missing where the number is not
	// known. Then reason and message explain why.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Count *int64 `json:"count,omitempty"`

	// atLeast is true where there may be more objects than count. Numbers above 10 are rounded down to one significant digit.
	// +optional
	AtLeast bool `json:"atLeast,omitempty"`

	// reason is the reason why no count is known.
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

	// served is True where the API server serves the kind in the requested version, or in any version if none is requested.
	// It is False where the API server does not. It is Unknown where the agent could not determine it. Then reason and
	// message explain why.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Served metav1.ConditionStatus `json:"served"`

	// versions are all versions in which the kind is served, in the API server's order of preference.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Versions []string `json:"versions,omitempty"`

	// fields are the reports on the requested fields, in the order of spec, where the API is served. The list is empty from
	// an agent that does not support fields.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=atomic
	Fields []FieldFact `json:"fields,omitempty"`

	// reason is the reason why served, or found of a field, is Unknown.
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

	// found is True where the schema of the requested version has the field. If no version is requested, the schema of any
	// version counts. It is False where no such schema has the field, and Unknown where a schema could not be read.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Found metav1.ConditionStatus `json:"found"`

	// versions are the versions that have the field in their schema, in the API server's order of preference.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Versions []string `json:"versions,omitempty"`
}

// AddOnFact reports the version of an add-on that runs on the cluster.
type AddOnFact struct {
	AddOn `json:",inline"`

	// version is the version that the add-on's agent reports, by the annotation
	// dependency.addon.open-cluster-management.io/version of its lease. It is empty where the version is not known. Then
	// reason and message explain why.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// formerAnnotation is true where the lease has the version only under the annotation's former key,
	// addon.open-cluster-management.io/version. Such a version counts after all other sources.
	// +optional
	FormerAnnotation bool `json:"formerAnnotation,omitempty"`

	// reason is the reason why no version is known.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason FactReason `json:"reason,omitempty"`

	// message is the reason in words.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// FactReason is the reason why a fact is not known.
type FactReason string

// The reasons.
const (
	// ReasonDiscoveryFailed: the API server, or the aggregated API server behind it, did not list the APIs that it serves.
	ReasonDiscoveryFailed FactReason = "DiscoveryFailed"
	// ReasonSchemaNotPublished: the API server did not publish the schema of an API that it serves.
	ReasonSchemaNotPublished FactReason = "SchemaNotPublished"
	// ReasonForbidden: the agent lacks a right on the managed cluster.
	ReasonForbidden FactReason = "Forbidden"
	// ReasonCountFailed: the API server, or the aggregated API server behind it, did not list the objects of a kind.
	ReasonCountFailed FactReason = "CountFailed"
	// ReasonNotInstalled: the cluster has no ManagedClusterAddOn with the add-on's name.
	ReasonNotInstalled FactReason = "NotInstalled"
	// ReasonLeaseNotFound: the add-on has no lease.
	ReasonLeaseNotFound FactReason = "LeaseNotFound"
	// ReasonVersionNotReported: the add-on's lease has no annotation with a version.
	ReasonVersionNotReported FactReason = "VersionNotReported"
	// ReasonVersionUnusable: the value of the annotation cannot be a version.
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
