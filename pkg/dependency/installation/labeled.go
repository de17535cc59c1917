package installation

import (
	"time"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// leaving is how long Open Cluster Management may take to remove an add-on from a managed cluster whose label is gone.
const leaving = time.Minute

// decideLabeled decides where Open Cluster Management installs the add-on on managed clusters that have the label, and removes it where the
// label is gone. What Interlock has done is the label, whatever becomes of the ManagedClusterAddOn meanwhile: one that is deleted, or goes with
// its registration, is made again.
func (f Facts) decideLabeled(now time.Time) Decision {
	stored := *f.Stored
	if len(f.Requests) > 0 {
		stored.Requests = f.Requests
	}
	switch {
	case !f.Labeled:
		return f.decideUnlabeled(stored, now)
	case stored.Phase == dependencyv1alpha1.PhaseKept, f.AddOn != nil && f.AddOn.Deleted:
		return Decision{Desired: &stored}
	case f.AddOn == nil && (stored.Phase == dependencyv1alpha1.PhaseInstalling || stored.Phase == dependencyv1alpha1.PhaseGivenUp):
		return f.awaitInstallation(stored, now)
	case f.AddOn != nil && f.AddOn.UID != stored.UID:
		stored = stored.Created(f.AddOn.UID, now)
	case f.AddOn != nil && (f.AddOn.TakenOver || f.AddOn.Generation > stored.Generation):
		stored = stored.Kept(now)
		return Decision{Desired: &stored}
	}
	return f.decideUse(stored, now)
}

// awaitInstallation decides where the label stands, and Open Cluster Management has still to install the add-on. It never does on a managed
// cluster that no Placement selects for another reason: a label that nothing needs is withdrawn there by the rule for add-ons.
func (f Facts) awaitInstallation(stored Installation, now time.Time) Decision {
	if len(f.Requests) > 0 || f.Use != Unused || f.Cluster != ClusterReady || !f.Consents || f.keeps(stored) {
		stored.enter(dependencyv1alpha1.PhaseInstalling, now)
		return Decision{Desired: &stored}
	}
	return f.decideUse(stored, now)
}

// decideUnlabeled decides where the label is gone, or not written yet. If Interlock has not withdrawn it, another writer has.
func (f Facts) decideUnlabeled(stored Installation, now time.Time) Decision {
	switch again := stored.Since.Add(leaving); {
	case len(f.Requests) == 0, stored.Phase == dependencyv1alpha1.PhaseRemoving, stored.Phase == dependencyv1alpha1.PhaseKept:
		return Decision{}
	case stored.Phase == dependencyv1alpha1.PhaseInstalled, stored.Phase == dependencyv1alpha1.PhaseUnused:
		return undo(stored, now)
	case f.AddOn == nil:
		return f.resume(stored, now)
	case again.After(now):
		return Decision{Desired: &stored, Again: again}
	}
	return Decision{} // another Placement installs it
}
