package installation

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of events on installations.
const (
	// EventInstalls: Interlock has a dependency installed. It is on the dependent's ManagedClusterAddOn.
	EventInstalls = "InstallsDependency"
	// EventUnapproved: a change would install an add-on on more managed clusters than Interlock does without an approval. It is on
	// the add-on's ClusterManagementAddOn.
	EventUnapproved = "InstallationUnapproved"
	// EventGivenUp: what Interlock installed was removed again and again. It is on the add-on's ClusterManagementAddOn.
	EventGivenUp = "InstallationGivenUp"

	// EventRemoves: Interlock has removed what it had installed, because no add-on needs it any more. It is on the ManagedClusterAddOn
	// that is removed.
	EventRemoves = "RemovesDependency"
	// EventRemovalUnapproved: a change would remove an add-on from more managed clusters than Interlock does without an approval. It is
	// on the add-on's ClusterManagementAddOn.
	EventRemovalUnapproved = "RemovalUnapproved"
	// EventRemovalGivenUp: what Interlock removed was installed again and again. It is on the add-on's ClusterManagementAddOn.
	EventRemovalGivenUp = "RemovalGivenUp"
)

// The actions of events.
const (
	actionInstall = "Install"
	actionRemove  = "Remove"
)

// settled is how long the number of managed clusters that wait for an approval stays the same before an event names it.
const settled = 5 * time.Second

// repeated is after how long an event on what still waits for an approval is emitted again: it has the number to approve, and a hub keeps
// events for an hour.
const repeated = 50 * time.Minute

// emitted remembers what events have said, so that each says it once.
type emitted struct {
	unapproved map[string]unapproved
	givenUp    map[installation.Target]bool
}

// unapproved is on how many managed clusters an add-on waits for an approval, why the one that it has does not count, and since when. It is
// also when an event said so; zero: none has.
type unapproved struct {
	clusters int
	because  string
	since    time.Time
	emitted  time.Time
}

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
			r.Recorder.Eventf(onCluster(of), onCluster(other), corev1.EventTypeNormal, EventInstalls, actionInstall, "%s",
				events.Note(fmt.Sprintf("Add-on '%s' is being installed, because '%s' needs it", target.AddOn, dependent)))
		}
	}
	return r.reportWaiting(plan, clusters, &r.emitted, ofInstallations)
}

// removed remembers and reports that an add-on is being removed.
func (r *Reconciler) removed(target installation.Target) {
	r.removals.Removed(target, r.Clock.Now())
	r.Metrics.Removed(target.AddOn)
	r.Recorder.Eventf(onCluster(types.NamespacedName{Namespace: target.Cluster, Name: target.AddOn}), nil, corev1.EventTypeNormal,
		EventRemoves, actionRemove, "%s", events.Note(fmt.Sprintf("Add-on '%s' is being removed, because no other add-on needs it any more", target.AddOn)))
}

// reportRemovals emits events on what a plan of removals does not do, and sets the metrics of what waits. It returns when to look again;
// zero: not before something changes.
func (r *Reconciler) reportRemovals(plan installation.RemovalPlan, clusters int) (again time.Time) {
	r.Metrics.Keep(plan)
	return r.reportWaiting(plan.Plan, clusters, &r.emittedRemovals, ofRemovals)
}

// wording is what events say of installations, or of removals.
type wording struct {
	action, unapproved, givenUp, approval string
	// waits is followed by the approval, with the add-on, on how many managed clusters, and of how many. left is of a target.
	waits string
	left  func(installation.Target) string
	// approved is what is approved, or what the annotation says that is no number.
	approved func(catalog.Install) (clusters int, wrong string)
}

var (
	ofInstallations = wording{
		actionInstall, EventUnapproved, EventGivenUp, addonv1alpha1.ApproveInstallAnnotation, "Installing '%s' on %d of %s", notInstalled,
		func(install catalog.Install) (int, string) { return install.Approved, install.WrongApproval },
	}
	ofRemovals = wording{
		actionRemove, EventRemovalUnapproved, EventRemovalGivenUp, addonv1alpha1.ApproveRemovalAnnotation, "Removing '%s' from %d of %s", notRemoved,
		func(install catalog.Install) (int, string) {
			return install.RemovalApproved, install.WrongRemovalApproval
		},
	}
)

func notInstalled(target installation.Target) string {
	return fmt.Sprintf("'%s' is not installed on managed cluster %s for now, because another writer removed it again and "+
		"again. To keep it from being installed, set spec.install: Deny in an AddOnDependencyPolicy", target.AddOn, target.Cluster)
}

func notRemoved(target installation.Target) string {
	return fmt.Sprintf("'%s' is not removed from managed cluster %s for now, because it was installed again and again after it was "+
		"removed. To keep it there, set removal: Keep on a dependency that has it installed", target.AddOn, target.Cluster)
}

// reportWaiting emits events on what a plan does not do, and returns when to look again; zero: not before something changes.
func (r *Reconciler) reportWaiting(plan installation.Plan, clusters int, emitted *emitted, words wording) (again time.Time) {
	again = r.reportUnapproved(plan.Unapproved, clusters, emitted, words)
	givenUp := map[installation.Target]bool{}
	for _, target := range plan.GivenUp {
		if givenUp[target] = true; !emitted.givenUp[target] {
			other := onCluster(types.NamespacedName{Namespace: target.Cluster, Name: target.AddOn})
			r.warn(target.AddOn, other, words.givenUp, words.action, words.left(target))
		}
	}
	emitted.givenUp = givenUp
	return again
}

// notApproved says why the approval that an add-on has does not count; empty: it has none.
func (w wording) notApproved(install catalog.Install) string {
	switch approved, wrong := w.approved(install); {
	case wrong != "":
		return fmt.Sprintf(", because its annotation says '%s', which is not a number", text.Name(wrong))
	case approved != 0:
		return fmt.Sprintf(", because its annotation approves only %d", approved)
	}
	return ""
}

// reportUnapproved emits an event on each add-on that waits for an approval, and returns when to look again; zero: not before
// something changes.
func (r *Reconciler) reportUnapproved(waiting map[string]int, clusters int, emitted *emitted, words wording) (again time.Time) {
	now, known, declared := r.Clock.Now(), make(map[string]unapproved, len(waiting)), r.Declarations.Current()
	for _, addOn := range slices.Sorted(maps.Keys(waiting)) {
		count, before, because := waiting[addOn], emitted.unapproved[addOn], words.notApproved(declared.Install(addOn))
		if before.clusters != count || before.because != because {
			before = unapproved{clusters: count, because: because, since: now}
		}
		due := before.since.Add(settled)
		if !before.emitted.IsZero() {
			due = before.emitted.Add(repeated)
		}
		if !now.Before(due) {
			before.emitted, due = now, now.Add(repeated)
			related := registration(addOn)
			related.FieldPath = fmt.Sprintf("metadata.annotations[%s]=%d%s", words.approval, count, because)
			r.warn(addOn, related, words.unapproved, words.action, fmt.Sprintf(words.waits+" waits for an approval%s: kubectl annotate --overwrite "+
				"clustermanagementaddon %s %s=%d", addOn, count, text.Count(clusters, "managed cluster"), because, addOn, words.approval, count))
		}
		again, known[addOn] = controllers.Sooner(again, due), before
	}
	emitted.unapproved = known
	return again
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
