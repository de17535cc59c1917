package installation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/approval"
	lifecycle "open-cluster-management.io/interlock/pkg/hub/lifecycle/installation"
)

// EventRemovalGivenUp is the reason of an event on a ClusterManagementAddOn: what Interlock removed was installed again and again.
const EventRemovalGivenUp = "RemovalGivenUp"

// The actions of events.
const (
	actionInstall = "Install"
	actionRemove  = "Remove"
)

// report emits events on what is done and what a plan does not do, and sets the metrics of what waits. It returns when to look again; zero:
// not before something changes.
func (r *Reconciler) report(plan installation.Plan, done []installation.Target, needs []need, clusters int) (again time.Time) {
	r.Metrics.Wait(plan)
	by := make(map[installation.Target][]string, len(needs))
	for _, one := range needs {
		by[one.Target] = one.dependents
	}
	for _, target := range done {
		for _, dependent := range by[target] {
			// Without the other add-on, events on several of them would be counted as one.
			of, other := types.NamespacedName{Namespace: target.Cluster, Name: dependent}, types.NamespacedName{Namespace: target.Cluster, Name: target.AddOn}
			r.Recorder.Eventf(onCluster(of), onCluster(other), corev1.EventTypeNormal, lifecycle.EventInstalls, actionInstall, "%s",
				events.Note(fmt.Sprintf("Add-on '%s' is being installed, because '%s' needs it", target.AddOn, dependent)))
		}
	}
	r.givenUp = r.reportGivenUp(plan.GivenUp, r.givenUp, ofInstallations)
	r.approvals.Kind, r.approvals.Clock, r.approvals.Recorder = approval.Installations, r.Clock, r.Recorder
	return r.approvals.ReportAll(plan.Unapproved, clusters, r.Declarations.Current().Catalog)
}

// removed remembers and reports that an add-on is being removed.
func (r *Reconciler) removed(target installation.Target) {
	r.removals.Removed(target, r.Clock.Now())
	r.Metrics.Removed(target.AddOn)
	r.Recorder.Eventf(onCluster(types.NamespacedName{Namespace: target.Cluster, Name: target.AddOn}), nil, corev1.EventTypeNormal,
		lifecycle.EventRemoves, actionRemove, "%s",
		events.Note(fmt.Sprintf("Add-on '%s' is being removed, because no other add-on needs it any more", target.AddOn)))
}

// reportRemovals emits events on what a plan of removals does not do, and sets the metrics of what waits. It returns when to look again;
// zero: not before something changes.
func (r *Reconciler) reportRemovals(plan installation.RemovalPlan, clusters int) (again time.Time) {
	r.Metrics.Keep(plan)
	r.givenUpRemovals = r.reportGivenUp(plan.GivenUp, r.givenUpRemovals, ofRemovals)
	r.removalApprovals.Kind, r.removalApprovals.Clock, r.removalApprovals.Recorder = approval.Removals, r.Clock, r.Recorder
	return r.removalApprovals.ReportAll(plan.Unapproved, clusters, r.Declarations.Current().Catalog)
}

// wording is what events say of installations, or of removals, that were given up.
type wording struct {
	action, reason string
	note           func(installation.Target) string
}

var (
	ofInstallations = wording{actionInstall, lifecycle.EventGivenUp, notInstalled}
	ofRemovals      = wording{actionRemove, EventRemovalGivenUp, notRemoved}
)

func notInstalled(target installation.Target) string {
	return fmt.Sprintf("'%s' is not installed on managed cluster %s for now, because another writer removed it again and "+
		"again. To keep it from being installed, set spec.install: Deny in an AddOnDependencyPolicy", target.AddOn, target.Cluster)
}

func notRemoved(target installation.Target) string {
	return fmt.Sprintf("'%s' is not removed from managed cluster %s for now, because it was installed again and again after it was "+
		"removed. To keep it there, set removal: Keep on a dependency that has it installed", target.AddOn, target.Cluster)
}

// reportGivenUp emits an event on each target that is given up now and was not before. It returns all that are.
func (r *Reconciler) reportGivenUp(targets []installation.Target, before map[installation.Target]bool, words wording) map[installation.Target]bool {
	givenUp := map[installation.Target]bool{}
	for _, target := range targets {
		if givenUp[target] = true; !before[target] {
			other := onCluster(types.NamespacedName{Namespace: target.Cluster, Name: target.AddOn})
			r.warn(target.AddOn, other, words.reason, words.action, words.note(target))
		}
	}
	return givenUp
}

// warn emits an event on an add-on. Events that differ in the note only would be counted as one, so each is related to something else.
func (r *Reconciler) warn(addOn string, related *corev1.ObjectReference, reason, action, note string) {
	r.Recorder.Eventf(registration(addOn), related, corev1.EventTypeWarning, reason, action, "%s", events.Note(note))
}

func registration(addOn string) *corev1.ObjectReference {
	return events.About(events.ClusterManagementAddOn, &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: addOn}})
}

func onCluster(addOn types.NamespacedName) *corev1.ObjectReference {
	return events.About(events.ManagedClusterAddOn, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: addOn.Namespace, Name: addOn.Name}})
}
