package installation

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Cluster is the state of a managed cluster that decides whether Interlock acts on it.
type Cluster int

const (
	// ClusterReady is a cluster on which Interlock acts.
	ClusterReady Cluster = iota
	// ClusterDetached is a cluster that does not exist, is being deleted, or was replaced by another cluster with its name.
	ClusterDetached
	// ClusterDenied is a cluster on which a policy denies installations and removals.
	ClusterDenied
	// ClusterUncertain is a cluster that cannot be reached, or whose add-ons are not all assessed yet.
	ClusterUncertain
)

// Use is the state of an add-on's use by other add-ons on a managed cluster.
type Use int

const (
	// UseUnknown means that the use is not known yet.
	UseUnknown Use = iota
	// Used means that at least one add-on uses it. An add-on that is being deleted counts too.
	Used
	// Unused means that no add-on uses it.
	Unused
)

// Present is an existing ManagedClusterAddOn.
type Present struct {
	UID        types.UID
	Generation int64
	// Ours is true if Interlock created it, and its label still shows that.
	Ours bool
	// TakenOver is true if another writer has changed its labels or annotations, which its generation does not show. It is
	// read only before a removal.
	TakenOver bool
	// Deleted is true while it is being deleted.
	Deleted bool
}

// Inputs are the state that a decision depends on, for one add-on on one managed cluster, as stored at that moment.
type Inputs struct {
	// Stored is the stored installation. It is nil without a stored installation.
	Stored *Installation
	// AddOn is nil without a ManagedClusterAddOn.
	AddOn *Present
	// Cluster and ClusterUID describe the managed cluster.
	Cluster    Cluster
	ClusterUID types.UID
	// Requests has the add-ons on the cluster that need it with install: Auto and are not being deleted, in ascending
	// order.
	Requests []dependencyv1alpha1.InstallationRequest
	// Missing is true if one of these add-ons cannot work without the installation.
	Missing bool
	// Use is its use by any add-on on the cluster.
	Use Use
	// Consents is true if its owner lets Interlock install it.
	Consents bool
	// ByLabel is true if OCM installs it on managed clusters with a label. Labeled is true if this cluster has the label.
	// Full is true if as many clusters have the label as the owner's Placement can select.
	ByLabel, Labeled, Full bool
	// Keep is true if an edge of any registered add-on keeps the add-on that it installed.
	Keep bool
	// Contradiction describes the add-ons on the cluster that the installation would contradict or break. It is empty
	// without such add-ons.
	Contradiction string
	// Approved and RemovalApproved are false if a change of the fleet waits for an approval.
	Approved, RemovalApproved bool
	// Delay is the time that an unused add-on stays.
	Delay time.Duration
}

// Installation is the stored state of an installation, without the parts for people.
type Installation struct {
	Requests    []dependencyv1alpha1.InstallationRequest
	Phase       dependencyv1alpha1.InstallationPhase
	Since       time.Time
	UID         types.UID
	Generation  int64
	ClusterUID  types.UID
	UnusedSince time.Time
	// LabeledSince is the time at which Interlock labeled the managed cluster. It is zero if no label installs the add-on.
	LabeledSince time.Time
	Undone       Undone
}

// Undone counts the removals of a needed add-on by other writers. It is zero without such removals.
type Undone struct {
	Count       int
	Last, Retry time.Time
}
