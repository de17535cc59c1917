package stability

import (
	"fmt"
	"strings"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// InstallationWorld is how an add-on may be installed on a managed cluster because another add-on there, its dependent, needs it.
type InstallationWorld struct {
	// Labeled is true if Placements install it by a label, and false if addon-manager creates it (install strategy Manual).
	Labeled bool
	// Removable is true if the edge has removal: WithLastDependent.
	Removable bool
	// Interventions is how many times users, owners, GitOps, the cluster and crashes interfere.
	Interventions uint8
}

func (w InstallationWorld) String() string {
	parts := []string{"manual"}
	if w.Labeled {
		parts[0] = "by label"
	}
	if w.Removable {
		return strings.Join(append(parts, "removed with its last dependent"), ", ")
	}
	return strings.Join(append(parts, "kept"), ", ")
}

// installationWorlds returns all worlds, with so many interventions.
func installationWorlds(interventions uint8) (worlds []InstallationWorld) {
	for _, labeled := range []bool{false, true} {
		for _, removable := range []bool{false, true} {
			worlds = append(worlds, InstallationWorld{Labeled: labeled, Removable: removable, Interventions: interventions})
		}
	}
	return worlds
}

// InstallationState is what is stored on a hub of one add-on on one managed cluster, and what addon-manager has cached and is about to write.
type InstallationState struct {
	// Hub is what the API server stores, and Cache what addon-manager has received of it.
	Hub, Cache installationObjects
	Write      installationWrite
	// Left is how many interventions are left.
	Left uint8
	// HandedOver is true once a user has deleted the AddOnInstallation.
	HandedOver bool
}

// installationObjects are the objects that an installation depends on.
type installationObjects struct {
	AddOn     addOnObject
	Dependent presence
	// User is another add-on with an edge that does not install the add-on.
	User    bool
	Cluster clusterObject
	Owner   ownership
	Record  record
}

// addOnObject is the ManagedClusterAddOn. UIDs are numbers: each new object has another one.
type addOnObject struct {
	UID      uint8
	Own      bool // addon-manager has created it
	Changed  bool // another writer has changed its spec
	Deleting bool
}

// clusterObject is the ManagedCluster. Labels have writers: a label stays until each has withdrawn it.
type clusterObject struct {
	UID                  uint8
	Lost                 bool
	OwnLabel, OtherLabel bool
}

// presence is a ManagedClusterAddOn of a dependent.
type presence uint8

// The presences.
const (
	absent presence = iota
	present
	leaving
)

// ownership is what the registration of the add-on says.
type ownership uint8

// The registrations. A paused one has another strategy for a while, and a withdrawn one lists no Placements.
const (
	consenting ownership = iota
	paused
	withdrawn
	unregistered
)

// record is the AddOnInstallation; the zero value: there is none.
type record struct {
	Phase       dependencyv1alpha1.InstallationPhase
	AddOn       uint8 // UID
	Cluster     uint8 // UID
	Requested   bool
	Unused      age
	Since       age
	Undone      uint8
	UndoneUntil age
}

// age is how long ago a moment was, as far as decisions distinguish it.
type age uint8

// The ages. A due moment was longer ago than any delay.
const (
	never age = iota
	ahead
	recent
	due
)

func (s InstallationState) String() string {
	return fmt.Sprintf("%+v", s.Hub)
}
