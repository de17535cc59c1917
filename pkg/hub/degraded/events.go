package degraded

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"

	"open-cluster-management.io/interlock/pkg/announce"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
)

// EventContested is the reason of the event that says that somebody else keeps
// overwriting Degraded. The other events on a ManagedClusterAddOn have the
// reason of the condition they tell of.
const EventContested = "DegradedContested"

const actionEvaluate = "EvaluateDependencies"

// NewEventPace returns the pace at which transitions become events: a few
// hundred at once, then ten a second. When something fails on the whole fleet, one
// event for each condition would double what is written to the hub, and hold up
// the conditions, which say it all.
func NewEventPace() flowcontrol.PassiveRateLimiter {
	return flowcontrol.NewTokenBucketPassiveRateLimiter(10, 200)
}

// tellTransition tells of a new status or reason. Another message alone is no
// event: it stands in the condition, and may change with every failing edge.
func (r *Reconciler) tellTransition(addOn *addonv1alpha1.ManagedClusterAddOn, desired metav1.Condition) {
	stored := fleet.Degraded(addOn)
	if stored != nil && stored.Status == desired.Status && stored.Reason == desired.Reason {
		return
	}
	if r.EventPace != nil && !r.EventPace.TryAccept() {
		r.Metrics.EventLeftOut()
		return
	}
	eventType := corev1.EventTypeNormal
	if desired.Status == metav1.ConditionTrue {
		eventType = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(announce.About(announce.ManagedClusterAddOn, addOn), nil,
		eventType, desired.Reason, actionEvaluate, "%s", announce.Note(desired.Message))
}

// tellContested refers to the add-on without its version: told again, it is the
// same event, which then counts.
func (r *Reconciler) tellContested(addOn *addonv1alpha1.ManagedClusterAddOn) {
	about := announce.About(announce.ManagedClusterAddOn, addOn)
	about.ResourceVersion = ""
	r.Recorder.Eventf(about, nil,
		corev1.EventTypeWarning, EventContested, actionEvaluate,
		"Another writer keeps overwriting the condition Degraded; metadata.managedFields names it. "+
			"It is written again at growing intervals.")
}
