package stability

import (
	"fmt"
	"strings"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// InstallationWorld is a way to install an add-on on a managed cluster because another add-on there, its dependent,
// needs it.
type InstallationWorld struct {
	// Labeled is true if Placements install it by a label, and false if addon-manager creates it (install strategy Manual).
	Labeled bool
	// Removable is true if the edge has removal: WithLastDependent.
	Removable bool
	// OneLeader is true if no former leader writes after another one leads, which leaves fewer schedules.
	OneLeader bool
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

// installationWorlds returns all worlds with this number of interventions.
func installationWorlds(interventions uint8) []InstallationWorld {
	var worlds []InstallationWorld
	for _, labeled := range []bool{false, true} {
		for _, removable := range []bool{false, true} {
			worlds = append(worlds, InstallationWorld{Labeled: labeled, Removable: removable, Interventions: interventions})
		}
	}
	return worlds
}

// InstallationState is the stored state of one add-on on one managed cluster, and the state of addon-manager: its
// cache and its next write.
type InstallationState struct {
	// Hub are the objects that the API server stores, and Cache is addon-manager's copy of them.
	Hub, Cache installationObjects
	Write      installationWrite
	// FormerWrite is the write of a former leader that still carries its last decision out.
	FormerWrite installationWrite
	// TwoLed is true once a former leader wrote after another one led.
	TwoLed bool
	// Remaining is how many interventions are left.
	Remaining uint8
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

// ownership is the state of the add-on's registration.
type ownership uint8

// The registrations. A paused registration has another strategy for a while, and a withdrawn registration lists no
// Placements.
const (
	consenting ownership = iota
	paused
	withdrawn
	unregistered
)

// record is the AddOnInstallation. The zero value means that there is none.
type record struct {
	Phase       dependencyv1alpha1.InstallationPhase
	AddOn       uint8 // UID
	Cluster     uint8 // UID
	Requested   bool
	Labeled     bool
	Unused      age
	Since       age
	Undone      uint8
	UndoneUntil age
}

// age is how long ago a moment was, in the steps that decisions distinguish.
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
