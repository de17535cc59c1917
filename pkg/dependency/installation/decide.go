package installation

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/undone"
)

// created is the generation of an object that no writer has changed since its creation.
const created = 1

// Step is what is done on a managed cluster once the installation is stored.
type Step int

const (
	// Rest is to do nothing.
	Rest Step = iota
	// Install is to have the add-on installed.
	Install
	// Remove is to have it removed.
	Remove
)

// Blocker is why an installation or a removal does not begin.
type Blocker string

// The blockers.
const (
	NotBlocked       Blocker = ""
	NeedsConsent     Blocker = "NeedsConsent"
	DeniedByPolicy   Blocker = "DeniedByPolicy"
	ClusterInDoubt   Blocker = "ClusterInDoubt"
	Contradiction    Blocker = "Contradiction"
	NeedsApproval    Blocker = "NeedsApproval"
	GivenUpForAWhile Blocker = "GivenUp"
	// NeedsPlacement is that one Placement consents, which does for a limited number of managed clusters.
	NeedsPlacement Blocker = "NeedsPlacement"
	Delayed        Blocker = "Delayed"
)

// Decision is what is to be stored of an installation, and done.
type Decision struct {
	// Desired is the installation as it is to be stored; nil: what is stored is to be deleted.
	Desired *Installation
	// Step is what to do afterwards. Begins is true where it is new: it is then bounded for the fleet.
	Step   Step
	Begins bool
	// Blocker is why nothing is done although it is requested, or unused for long enough.
	Blocker Blocker
	// Again is when to decide again; zero: when something changes.
	Again time.Time
}

// Decide decides on an installation. Without doubt about the managed cluster, it depends on what is stored alone, so it may be repeated at
// any moment.
func Decide(f Facts, now time.Time) Decision {
	switch {
	case f.Cluster == ClusterDetached, f.Stored != nil && f.Stored.ClusterUID != f.ClusterUID:
		return Decision{}
	case f.Stored == nil:
		return f.begin(now)
	case f.ByLabel:
		return f.decideLabeled(now)
	case f.AddOn == nil:
		return f.decideAbsent(now)
	default:
		return f.decidePresent(now)
	}
}

// begin decides where nothing is stored. An add-on that is installed was installed by another writer.
func (f Facts) begin(now time.Time) Decision {
	if f.AddOn != nil || !f.Missing || len(f.Requests) == 0 {
		return Decision{}
	}
	if blocker := f.blocker(); blocker != NotBlocked {
		return Decision{Blocker: blocker}
	}
	return f.install(Installation{ClusterUID: f.ClusterUID}, now)
}

// install begins an installation.
func (f Facts) install(desired Installation, now time.Time) Decision {
	desired.Requests = f.Requests
	desired.enter(dependencyv1alpha1.PhaseInstalling, now)
	return Decision{Desired: &desired, Step: Install, Begins: true}
}

// blocker returns why an installation may not begin.
func (f Facts) blocker() Blocker {
	switch {
	case f.Cluster == ClusterDenied:
		return DeniedByPolicy
	case !f.Consents:
		return NeedsConsent
	case f.Full:
		return NeedsPlacement
	case f.Cluster != ClusterReady:
		return ClusterInDoubt
	case f.Contradiction != "":
		return Contradiction
	case !f.Approved:
		return NeedsApproval
	}
	return NotBlocked
}

// decideAbsent decides where an installation is stored, and no ManagedClusterAddOn exists.
func (f Facts) decideAbsent(now time.Time) Decision {
	stored := *f.Stored
	if len(f.Requests) == 0 || stored.Phase == dependencyv1alpha1.PhaseRemoving || stored.Phase == dependencyv1alpha1.PhaseKept {
		return Decision{}
	}
	stored.Requests = f.Requests
	if stored.Phase == dependencyv1alpha1.PhaseInstalled || stored.Phase == dependencyv1alpha1.PhaseUnused {
		return undo(stored, now)
	}
	return f.resume(stored, now)
}

// resume goes on with an installation that was begun, or given up for a while.
func (f Facts) resume(stored Installation, now time.Time) Decision {
	if stored.Phase == dependencyv1alpha1.PhaseGivenUp && stored.Undone.Again.After(now) {
		return Decision{Desired: &stored, Blocker: GivenUpForAWhile, Again: stored.Undone.Again}
	}
	blocker := f.blocker()
	switch {
	case blocker != NotBlocked && stored.Undone.Count == 0 && blocker != ClusterInDoubt:
		return Decision{Blocker: blocker}
	case blocker != NotBlocked:
		return Decision{Desired: &stored, Blocker: blocker}
	case stored.Phase == dependencyv1alpha1.PhaseInstalling:
		return Decision{Desired: &stored, Step: Install}
	}
	return f.install(stored, now)
}

// undo counts that another writer has removed the add-on, and installs it once more, now or later.
func undo(stored Installation, now time.Time) Decision {
	if now.Sub(stored.Undone.Again) > undone.Within {
		stored.Undone.Count = 0
	}
	stored.Undone.Count++
	stored.Undone.Last, stored.Undone.Again = now, now.Add(undone.Pause(stored.Undone.Count))
	stored.UID, stored.Generation, stored.UnusedSince = "", 0, time.Time{}
	if stored.Undone.Again.After(now) {
		stored.enter(dependencyv1alpha1.PhaseGivenUp, now)
		return Decision{Desired: &stored, Blocker: GivenUpForAWhile, Again: stored.Undone.Again}
	}
	stored.enter(dependencyv1alpha1.PhaseInstalling, now)
	return Decision{Desired: &stored}
}

// decidePresent decides where an installation is stored, and a ManagedClusterAddOn exists.
func (f Facts) decidePresent(now time.Time) Decision {
	desired := *f.Stored
	switch {
	case f.AddOn.UID != desired.UID && !f.AddOn.Ours: // another writer has installed it
		return Decision{}
	case f.AddOn.Deleted:
		return Decision{Desired: &desired}
	case f.AddOn.UID != desired.UID: // Interlock has created it, or a backup was restored
		kept := desired.Phase == dependencyv1alpha1.PhaseKept
		if desired = desired.Created(f.AddOn.UID, now); kept {
			desired.enter(dependencyv1alpha1.PhaseKept, now)
		}
	}
	if f.AddOn.TakenOver || !f.AddOn.Ours || f.AddOn.Generation > desired.Generation {
		desired = desired.Kept(now)
	}
	if len(f.Requests) > 0 {
		desired.Requests = f.Requests
	}
	if desired.Phase == dependencyv1alpha1.PhaseKept {
		return Decision{Desired: &desired}
	}
	return f.decideUse(desired, now)
}

// decideUse decides on the removal of an add-on that nobody else has changed.
func (f Facts) decideUse(desired Installation, now time.Time) Decision {
	switch {
	case f.Use == UseUnknown && len(f.Requests) == 0 && f.Cluster == ClusterReady:
		return Decision{Desired: &desired}
	case len(f.Requests) > 0 || f.Use != Unused || f.Cluster != ClusterReady || !f.Consents || f.keeps(desired):
		desired.UnusedSince = time.Time{}
		desired.enter(dependencyv1alpha1.PhaseInstalled, now)
		return Decision{Desired: &desired}
	case desired.Phase == dependencyv1alpha1.PhaseRemoving:
		return Decision{Desired: &desired, Step: Remove}
	}
	if desired.UnusedSince.IsZero() || desired.UnusedSince.After(now) {
		desired.UnusedSince = now
	}
	desired.enter(dependencyv1alpha1.PhaseUnused, now)
	switch due := desired.UnusedSince.Add(f.Delay); {
	case due.After(now):
		return Decision{Desired: &desired, Again: due}
	case !f.RemovalApproved:
		return Decision{Desired: &desired, Blocker: NeedsApproval}
	}
	desired.enter(dependencyv1alpha1.PhaseRemoving, now)
	return Decision{Desired: &desired, Step: Remove, Begins: true}
}

// keeps reports whether an edge keeps what it has installed: one that is declared now, or one of the last that requested it.
func (f Facts) keeps(stored Installation) bool {
	return f.Keep || slices.ContainsFunc(stored.Requests, func(request dependencyv1alpha1.InstallationRequest) bool {
		return request.Removal != addonv1alpha1.DependencyRemovalWithLastDependent
	})
}

// Created returns the installation once its ManagedClusterAddOn is created. Stored at once, it lets a removal by another writer count that
// follows within the same second.
func (i Installation) Created(uid types.UID, now time.Time) Installation {
	i.UID, i.Generation, i.UnusedSince = uid, created, time.Time{}
	i.enter(dependencyv1alpha1.PhaseInstalled, now)
	return i
}

// Kept returns the installation once another writer has taken it over.
func (i Installation) Kept(now time.Time) Installation {
	i.UnusedSince = time.Time{}
	i.enter(dependencyv1alpha1.PhaseKept, now)
	return i
}

// enter sets the phase, and since when it is in it.
func (i *Installation) enter(phase dependencyv1alpha1.InstallationPhase, now time.Time) {
	if i.Phase != phase {
		i.Phase, i.Since = phase, now
	}
}

// Delayed is the decision where the bounds of the fleet do not let its step be taken yet.
func (d Decision) Delayed(stored *Installation, again time.Time) Decision {
	if d.Begins {
		d.Desired = stored
	}
	return Decision{Desired: d.Desired, Blocker: Delayed, Again: again}
}
