// Package approval emits events on changes of so many managed clusters that they wait for an approval.
package approval

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolsevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of the events. Both are on the ClusterManagementAddOn of an add-on.
const (
	// EventInstallation is emitted if a change would install an add-on on more managed clusters than Interlock does without an approval.
	EventInstallation = "InstallationUnapproved"
	// EventRemoval is emitted if a change would remove an add-on from more managed clusters than Interlock does without an approval.
	EventRemoval = "RemovalUnapproved"
)

// Settled is the time for which the number of managed clusters must not change before an event names it.
const Settled = 5 * time.Second

// Repeated is the time after which an event is emitted again. It has the number to approve, and a hub keeps events for an
// hour.
const Repeated = 50 * time.Minute

// Kind is the kind of change that an approval is for.
type Kind struct {
	reason, action, annotation string
	// waits is the beginning of the note. Its arguments are the add-on, the number of managed clusters, and the size of the
	// fleet.
	waits string
	// approved returns the approved number of managed clusters. The second result is the value of an annotation that is not
	// a number.
	approved func(catalog.Install) (int, string)
}

// The kinds.
var (
	Installations = Kind{
		EventInstallation, "Install", addonv1alpha1.ApproveInstallAnnotation, "Installing '%s' on %d of %s",
		func(install catalog.Install) (int, string) { return install.Approved, install.WrongApproval },
	}
	Removals = Kind{
		EventRemoval, "Remove", addonv1alpha1.ApproveRemovalAnnotation, "Removing '%s' from %d of %s",
		func(install catalog.Install) (int, string) {
			return install.RemovalApproved, install.WrongRemovalApproval
		},
	}
)

// Events emits events on the changes that wait, once for each number of managed clusters. It is not safe for concurrent
// use.
type Events struct {
	Kind     Kind
	Clock    clock.PassiveClock
	Recorder toolsevents.EventRecorder

	waiting map[string]change
}

// change is a change of an add-on that waits for an approval.
type change struct {
	clusters int
	// because is the reason why the add-on's approval does not count.
	because string
	since   time.Time
	// emitted is the time of the last event with the number. It is zero without such an event.
	emitted time.Time
}

// Report emits an event on an add-on after the number of managed clusters has settled. If clusters is zero, nothing waits.
// It returns the time of the next report, which is zero if only a change of the number leads to one.
func (e *Events) Report(addOn string, clusters, fleet int, install catalog.Install) time.Time {
	if clusters == 0 {
		delete(e.waiting, addOn)
		return time.Time{}
	}
	now, because, last := e.Clock.Now(), e.Kind.notApproved(install), e.waiting[addOn]
	if last.clusters != clusters || last.because != because {
		last = change{clusters: clusters, because: because, since: now}
	}
	next := last.since.Add(Settled)
	if !last.emitted.IsZero() {
		next = last.emitted.Add(Repeated)
	}
	if !now.Before(next) {
		last.emitted, next = now, now.Add(Repeated)
		e.emit(addOn, last, fleet)
	}
	if e.waiting == nil {
		e.waiting = map[string]change{}
	}
	e.waiting[addOn] = last
	return next
}

// ReportAll reports all add-ons that wait, with their numbers of managed clusters. It returns the time of the next report.
func (e *Events) ReportAll(waiting map[string]int, fleet int, c *catalog.Catalog) time.Time {
	for addOn := range e.waiting {
		if waiting[addOn] == 0 {
			delete(e.waiting, addOn)
		}
	}
	var next time.Time
	for _, addOn := range slices.Sorted(maps.Keys(waiting)) {
		next = controllers.Sooner(next, e.Report(addOn, waiting[addOn], fleet, c.Install(addOn)))
	}
	return next
}

// emit emits an event. Events that differ only in the note would be counted as one, so each has another related field.
func (e *Events) emit(addOn string, waiting change, fleet int) {
	about := events.About(events.ClusterManagementAddOn, &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: addOn}})
	related := about.DeepCopy()
	related.FieldPath = fmt.Sprintf("metadata.annotations[%s]=%d%s", e.Kind.annotation, waiting.clusters, waiting.because)
	note := fmt.Sprintf(e.Kind.waits+" waits for an approval%s: kubectl annotate --overwrite clustermanagementaddon %s %s=%d",
		addOn, waiting.clusters, text.Count(fleet, "managed cluster"), waiting.because, addOn, e.Kind.annotation, waiting.clusters)
	e.Recorder.Eventf(about, related, corev1.EventTypeWarning, e.Kind.reason, e.Kind.action, "%s", events.Note(note))
}

// notApproved returns the reason why the add-on's approval does not count. It is empty without an approval.
func (k Kind) notApproved(install catalog.Install) string {
	switch approved, wrong := k.approved(install); {
	case wrong != "":
		return fmt.Sprintf(", because its annotation says '%s', which is not a number", text.Name(wrong))
	case approved != 0:
		return fmt.Sprintf(", because its annotation approves only %d", approved)
	}
	return ""
}
