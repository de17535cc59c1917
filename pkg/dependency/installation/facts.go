package installation

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Cluster is whether Interlock acts on a managed cluster.
type Cluster int

const (
	// ClusterReady is a cluster on which Interlock acts.
	ClusterReady Cluster = iota
	// ClusterDetached is a cluster that does not exist, is being deleted, or is another one of the same name.
	ClusterDetached
	// ClusterDenied is a cluster on which a policy denies installations and removals.
	ClusterDenied
	// ClusterDoubtful is a cluster that cannot be reached, or whose add-ons were not all assessed yet.
	ClusterDoubtful
)

// Use is whether add-ons on a managed cluster use another one.
type Use int

const (
	// UseUnknown is that it is not known yet.
	UseUnknown Use = iota
	// Used is that at least one add-on does. One that is being deleted does, too.
	Used
	// Unused is that none does.
	Unused
)

// Present is a ManagedClusterAddOn that exists.
type Present struct {
	UID        types.UID
	Generation int64
	// Ours is true where Interlock has created it, and its label still says so.
	Ours bool
	// TakenOver is true where another writer has changed more of it than its generation shows: labels or annotations. It is read only before
	// a removal.
	TakenOver bool
	// Deleted is true while it is being deleted.
	Deleted bool
}

// Facts are what a decision on one add-on on one managed cluster rests on, as it is stored at that moment.
type Facts struct {
	// Stored is what is stored of the installation; nil: nothing.
	Stored *Installation
	// AddOn is nil where there is no ManagedClusterAddOn.
	AddOn *Present
	// Cluster and ClusterUID describe the managed cluster.
	Cluster    Cluster
	ClusterUID types.UID
	// Requests are the add-ons on the cluster that need it with install: Auto, and are not being deleted, ascending by name.
	Requests []dependencyv1alpha1.InstallationRequest
	// Missing is true where one of them cannot work without the installation.
	Missing bool
	// Use is whether any add-on on the cluster uses it.
	Use Use
	// Consents is true where its owner lets Interlock install it.
	Consents bool
	// ByLabel is true where Open Cluster Management installs it on managed clusters with a label. Labeled is true where this one has it, and
	// Full where it is on as many as the owner's Placement can select.
	ByLabel, Labeled, Full bool
	// Keep is true where an edge of any registered add-on keeps what it has installed.
	Keep bool
	// Contradiction is what the installation would contradict or break on the cluster; empty: nothing.
	Contradiction string
	// Approved and RemovalApproved are false where a change of the fleet waits for an approval.
	Approved, RemovalApproved bool
	// Delay is how long the add-on stays where none uses it.
	Delay time.Duration
}

// Installation is what is stored of an installation, without what only people read.
type Installation struct {
	Requests    []dependencyv1alpha1.InstallationRequest
	Phase       dependencyv1alpha1.InstallationPhase
	Since       time.Time
	UID         types.UID
	Generation  int64
	ClusterUID  types.UID
	UnusedSince time.Time
	Undone      Undone
}

// Undone counts how many times another writer has removed the add-on while it was needed; the zero value: never.
type Undone struct {
	Count       int
	Last, Again time.Time
}
