package installation

import (
	"time"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/undone"
)

// removalTime is the time that OCM may take to remove an add-on from a managed cluster after its label is removed.
const removalTime = time.Minute

// decideLabeled decides if OCM installs the add-on on managed clusters with the label, and removes it from clusters
// without the label. Interlock's own action is only the label. If the ManagedClusterAddOn is deleted, or its registration
// is, OCM creates it again.
func (f Facts) decideLabeled(now time.Time) Decision {
	stored := *f.Stored
	if len(f.Requests) > 0 {
		stored.Requests = f.Requests
	}
	if !f.Labeled {
		return f.decideUnlabeled(stored, now)
	}
	stored = stored.Labeled(now)
	switch {
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

// awaitInstallation decides if the label is set, and OCM has not installed the add-on yet. OCM never installs it on a
// managed cluster that no Placement selects for another reason. There, the rule for unused add-ons removes a label that no
// add-on needs.
func (f Facts) awaitInstallation(stored Installation, now time.Time) Decision {
	if len(f.Requests) > 0 || f.Use != Unused || f.Cluster != ClusterReady || !f.Consents || f.keeps(stored) {
		stored.enter(dependencyv1alpha1.PhaseInstalling, now)
		return Decision{Desired: &stored}
	}
	return f.decideUse(stored, now)
}

// decideUnlabeled decides if the label is missing. Either it is not written yet, or it was removed by Interlock or another
// writer.
func (f Facts) decideUnlabeled(stored Installation, now time.Time) Decision {
	forget := stored.Since.Add(removalTime)
	if stored.Undone.Count > 0 { // OCM is still removing the add-on, and the removals are counted for longer
		forget = stored.Undone.Retry.Add(undone.Within)
	}
	switch {
	case len(f.Requests) == 0, stored.Phase == dependencyv1alpha1.PhaseRemoving, stored.Phase == dependencyv1alpha1.PhaseKept:
		return Decision{}
	case stored.Phase == dependencyv1alpha1.PhaseInstalled, stored.Phase == dependencyv1alpha1.PhaseUnused:
		return undo(stored, now)
	case f.AddOn != nil && f.AddOn.Deleted:
		return Decision{Desired: &stored}
	case f.AddOn == nil && !stored.LabeledSince.IsZero():
		return undo(stored, now)
	case f.AddOn == nil:
		return f.resume(stored, now)
	case forget.After(now):
		return Decision{Desired: &stored, NextCheck: forget}
	}
	return Decision{} // another Placement installs the add-on
}
