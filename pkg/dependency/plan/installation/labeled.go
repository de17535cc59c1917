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
func (inputs Inputs) decideLabeled(now time.Time) Decision {
	stored := *inputs.Stored
	if len(inputs.Requests) > 0 {
		stored.Requests = inputs.Requests
	}
	if !inputs.Labeled {
		return inputs.decideUnlabeled(stored, now)
	}
	stored = stored.Labeled(now)
	switch {
	case stored.Phase == dependencyv1alpha1.PhaseKept, inputs.AddOn != nil && inputs.AddOn.Deleted:
		return Decision{Desired: &stored}
	case inputs.AddOn == nil && (stored.Phase == dependencyv1alpha1.PhaseInstalling || stored.Phase == dependencyv1alpha1.PhaseGivenUp):
		return inputs.awaitInstallation(stored, now)
	case inputs.AddOn != nil && inputs.AddOn.UID != stored.UID:
		stored = stored.Created(inputs.AddOn.UID, now)
	case inputs.AddOn != nil && (inputs.AddOn.TakenOver || inputs.AddOn.Generation > stored.Generation):
		stored = stored.Kept(now)
		return Decision{Desired: &stored}
	}
	return inputs.decideUse(stored, now)
}

// awaitInstallation decides if the label is set, and OCM has not installed the add-on yet. OCM never installs it on a
// managed cluster that no Placement selects for another reason. There, the rule for unused add-ons removes a label that no
// add-on needs.
func (inputs Inputs) awaitInstallation(stored Installation, now time.Time) Decision {
	if len(inputs.Requests) > 0 || inputs.Use != Unused || inputs.Cluster != ClusterReady || !inputs.Consents || inputs.keeps(stored) {
		stored.enter(dependencyv1alpha1.PhaseInstalling, now)
		return Decision{Desired: &stored}
	}
	return inputs.decideUse(stored, now)
}

// decideUnlabeled decides if the label is missing. Either it is not written yet, or it was removed by Interlock or another
// writer.
func (inputs Inputs) decideUnlabeled(stored Installation, now time.Time) Decision {
	forget := stored.Since.Add(removalTime)
	if stored.Undone.Count > 0 { // OCM is still removing the add-on, and the removals are counted for longer
		forget = stored.Undone.Retry.Add(undone.Within)
	}
	switch {
	case len(inputs.Requests) == 0, stored.Phase == dependencyv1alpha1.PhaseRemoving, stored.Phase == dependencyv1alpha1.PhaseKept:
		return Decision{}
	case stored.Phase == dependencyv1alpha1.PhaseInstalled, stored.Phase == dependencyv1alpha1.PhaseUnused:
		return countUndone(stored, now)
	case inputs.AddOn != nil && inputs.AddOn.Deleted:
		return Decision{Desired: &stored}
	case inputs.AddOn == nil && !stored.LabeledSince.IsZero():
		return countUndone(stored, now)
	case inputs.AddOn == nil:
		return inputs.resume(stored, now)
	case forget.After(now):
		return Decision{Desired: &stored, NextCheck: forget}
	}
	return Decision{} // another Placement installs the add-on
}
