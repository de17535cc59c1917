package installation

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/undone"
)

// initialGeneration is the generation of an object that no writer has changed since its creation.
const initialGeneration = 1

// Step is the action on a managed cluster after the installation is stored.
type Step int

const (
	// Rest means that there is nothing to do.
	Rest Step = iota
	// Install means that the add-on is to be installed.
	Install
	// Remove means that the add-on is to be removed.
	Remove
)

// Blocker is the reason why an installation or a removal does not begin.
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
	// NeedsPlacement means that only one Placement consents, which is enough for a limited number of managed clusters.
	NeedsPlacement Blocker = "NeedsPlacement"
	Delayed        Blocker = "Delayed"
)

// Decision is the desired state of an installation, with the next action.
type Decision struct {
	// Desired is the installation to store. It is nil if the stored installation is to be deleted.
	Desired *Installation
	// Step is the action after that. Begins is true if the action is new. It then counts for the bounds of the fleet.
	Step   Step
	Begins bool
	// Blocker is the reason why a requested installation, or a due removal, does not begin.
	Blocker Blocker
	// NextCheck is the time of the next decision. It is zero if only a change leads to another decision.
	NextCheck time.Time
}

// Decide decides on an installation. As long as the state of the managed cluster is certain, the decision depends only on
// the stored state. So it can be repeated at any time.
func Decide(inputs Inputs, now time.Time) Decision {
	switch {
	case inputs.Cluster == ClusterDetached, inputs.Stored != nil && inputs.Stored.ClusterUID != inputs.ClusterUID:
		return Decision{}
	case inputs.Stored == nil:
		return inputs.begin(now)
	case inputs.ByLabel:
		return inputs.decideLabeled(now)
	case inputs.AddOn == nil:
		return inputs.decideAbsent(now)
	default:
		return inputs.decidePresent(now)
	}
}

// begin decides if nothing is stored. If the add-on is installed, another writer installed it.
func (inputs Inputs) begin(now time.Time) Decision {
	if inputs.AddOn != nil || !inputs.Missing || len(inputs.Requests) == 0 {
		return Decision{}
	}
	if blocker := inputs.blocker(); blocker != NotBlocked {
		return Decision{Blocker: blocker}
	}
	return inputs.install(Installation{ClusterUID: inputs.ClusterUID}, now)
}

// install returns the decision to begin an installation.
func (inputs Inputs) install(desired Installation, now time.Time) Decision {
	desired.Requests = inputs.Requests
	desired.enter(dependencyv1alpha1.PhaseInstalling, now)
	return Decision{Desired: &desired, Step: Install, Begins: true}
}

// blocker returns the reason why an installation may not begin. Two more are decided elsewhere: GivenUpForAWhile by resume,
// and Delayed by the bounds of the fleet.
func (inputs Inputs) blocker() Blocker {
	switch {
	case inputs.Cluster == ClusterDenied:
		return DeniedByPolicy
	case !inputs.Consents:
		return NeedsConsent
	case inputs.Full:
		return NeedsPlacement
	case inputs.Cluster != ClusterReady:
		return ClusterInDoubt
	case inputs.Contradiction != "":
		return Contradiction
	case !inputs.Approved:
		return NeedsApproval
	}
	return NotBlocked
}

// decideAbsent decides if an installation is stored, but no ManagedClusterAddOn exists.
func (inputs Inputs) decideAbsent(now time.Time) Decision {
	stored := *inputs.Stored
	if len(inputs.Requests) == 0 || stored.Phase == dependencyv1alpha1.PhaseRemoving || stored.Phase == dependencyv1alpha1.PhaseKept {
		return Decision{}
	}
	stored.Requests = inputs.Requests
	if stored.Phase == dependencyv1alpha1.PhaseInstalled || stored.Phase == dependencyv1alpha1.PhaseUnused {
		return countUndone(stored, now)
	}
	return inputs.resume(stored, now)
}

// resume continues an installation that was begun, or given up for a while.
func (inputs Inputs) resume(stored Installation, now time.Time) Decision {
	if stored.Phase == dependencyv1alpha1.PhaseGivenUp && stored.Undone.Retry.After(now) {
		return Decision{Desired: &stored, Blocker: GivenUpForAWhile, NextCheck: stored.Undone.Retry}
	}
	blocker := inputs.blocker()
	switch {
	case blocker != NotBlocked && stored.Undone.Count == 0 && blocker != ClusterInDoubt:
		return Decision{Blocker: blocker}
	case blocker != NotBlocked:
		return Decision{Desired: &stored, Blocker: blocker}
	case stored.Phase == dependencyv1alpha1.PhaseInstalling:
		return Decision{Desired: &stored, Step: Install}
	}
	return inputs.install(stored, now)
}

// countUndone counts a removal of the add-on by another writer. It installs the add-on again, now or later.
func countUndone(stored Installation, now time.Time) Decision {
	if now.Sub(stored.Undone.Retry) > undone.Within {
		stored.Undone.Count = 0
	}
	stored.Undone.Count++
	stored.Undone.Last, stored.Undone.Retry = now, now.Add(undone.Pause(stored.Undone.Count))
	stored.UID, stored.Generation, stored.UnusedSince, stored.LabeledSince = "", 0, time.Time{}, time.Time{}
	if stored.Undone.Retry.After(now) {
		stored.enter(dependencyv1alpha1.PhaseGivenUp, now)
		return Decision{Desired: &stored, Blocker: GivenUpForAWhile, NextCheck: stored.Undone.Retry}
	}
	stored.enter(dependencyv1alpha1.PhaseInstalling, now)
	return Decision{Desired: &stored}
}

// decidePresent decides if an installation is stored and a ManagedClusterAddOn exists.
func (inputs Inputs) decidePresent(now time.Time) Decision {
	desired := *inputs.Stored
	switch {
	case inputs.AddOn.UID != desired.UID && !inputs.AddOn.Ours: // another writer has installed the add-on
		return Decision{}
	case inputs.AddOn.Deleted:
		return Decision{Desired: &desired}
	case inputs.AddOn.UID != desired.UID: // Interlock created the add-on, or a backup was restored
		isKept := desired.Phase == dependencyv1alpha1.PhaseKept
		if desired = desired.Created(inputs.AddOn.UID, now); isKept {
			desired.enter(dependencyv1alpha1.PhaseKept, now)
		}
	}
	if inputs.AddOn.TakenOver || !inputs.AddOn.Ours || inputs.AddOn.Generation > desired.Generation {
		desired = desired.Kept(now)
	}
	if len(inputs.Requests) > 0 {
		desired.Requests = inputs.Requests
	}
	if desired.Phase == dependencyv1alpha1.PhaseKept {
		return Decision{Desired: &desired}
	}
	return inputs.decideUse(desired, now)
}

// decideUse decides on the removal of an add-on that no other writer has changed.
func (inputs Inputs) decideUse(desired Installation, now time.Time) Decision {
	switch {
	case inputs.Use == UseUnknown && len(inputs.Requests) == 0 && inputs.Cluster == ClusterReady:
		return Decision{Desired: &desired}
	case len(inputs.Requests) > 0 || inputs.Use != Unused || inputs.Cluster != ClusterReady || !inputs.Consents || inputs.keeps(desired):
		desired.UnusedSince = time.Time{}
		desired.enter(dependencyv1alpha1.PhaseInstalled, now)
		return Decision{Desired: &desired, Blocker: inputs.removalBlocker(desired)}
	case desired.Phase == dependencyv1alpha1.PhaseRemoving:
		return Decision{Desired: &desired, Step: Remove}
	}
	if desired.UnusedSince.IsZero() || desired.UnusedSince.After(now) {
		desired.UnusedSince = now
	}
	desired.enter(dependencyv1alpha1.PhaseUnused, now)
	switch due := desired.UnusedSince.Add(inputs.Delay); {
	case due.After(now):
		return Decision{Desired: &desired, NextCheck: due}
	case !inputs.RemovalApproved:
		return Decision{Desired: &desired, Blocker: NeedsApproval}
	}
	desired.enter(dependencyv1alpha1.PhaseRemoving, now)
	return Decision{Desired: &desired, Step: Remove, Begins: true}
}

// removalBlocker returns the reason why an unused add-on stays. It is empty if the add-on is used, or stays for an edge.
func (inputs Inputs) removalBlocker(stored Installation) Blocker {
	switch {
	case len(inputs.Requests) > 0 || inputs.Use != Unused || inputs.keeps(stored):
		return NotBlocked
	case inputs.Cluster == ClusterDenied:
		return DeniedByPolicy
	case inputs.Cluster != ClusterReady:
		return ClusterInDoubt
	}
	return NeedsConsent
}

// keeps reports whether an edge keeps the add-on that it installed. It can be a declared edge, or an edge of the last
// requests.
func (inputs Inputs) keeps(stored Installation) bool {
	return inputs.Keep || slices.ContainsFunc(stored.Requests, func(request dependencyv1alpha1.InstallationRequest) bool {
		return request.Removal != addonv1alpha1.DependencyRemovalWithLastDependent
	})
}

// Created returns the installation after its ManagedClusterAddOn is created. It is stored at once, so that a removal by
// another writer within the same second counts.
func (i Installation) Created(uid types.UID, now time.Time) Installation {
	i.UID, i.Generation, i.UnusedSince = uid, initialGeneration, time.Time{}
	i.enter(dependencyv1alpha1.PhaseInstalled, now)
	return i
}

// Labeled returns the installation after its managed cluster is labeled. Like Created, it is stored at once.
func (i Installation) Labeled(now time.Time) Installation {
	if i.LabeledSince.IsZero() {
		i.LabeledSince = now
	}
	return i
}

// Kept returns the installation after another writer has taken over the add-on.
func (i Installation) Kept(now time.Time) Installation {
	i.UnusedSince = time.Time{}
	i.enter(dependencyv1alpha1.PhaseKept, now)
	return i
}

// enter sets the phase and the time of its beginning.
func (i *Installation) enter(phase dependencyv1alpha1.InstallationPhase, now time.Time) {
	if i.Phase != phase {
		i.Phase, i.Since = phase, now
	}
}

// Delayed returns the decision if the bounds of the fleet do not allow its step yet.
func (d Decision) Delayed(stored *Installation, retry time.Time) Decision {
	if d.Begins {
		d.Desired = stored
	}
	return Decision{Desired: d.Desired, Blocker: Delayed, NextCheck: retry}
}
