package status

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// EventContested is the reason of the event on an add-on whose Degraded another
// writer keeps overwriting. The other events on a ManagedClusterAddOn have the
// reason of the condition.
const EventContested = "DegradedContested"

// EventOpened is the reason of the event on an add-on whose gate was opened, by Interlock or by another writer.
const EventOpened = "GateOpened"

// The actions of events.
const (
	actionEvaluate = "EvaluateDependencies"
	actionOpen     = "OpenGate"
)

// NewEventLimiter returns a rate limiter for events on transitions: a few hundred at once, then
// ten a second. If an add-on fails on the whole fleet, an event for each condition would
// double the writes to the hub and delay the conditions, which have the same content.
func NewEventLimiter() flowcontrol.PassiveRateLimiter {
	return flowcontrol.NewTokenBucketPassiveRateLimiter(10, 200)
}

// emitTransition emits an event on a new status or reason of Degraded. It emits none on a new
// message, which may change with every failing edge.
func (r *Reconciler) emitTransition(addOn *addonv1alpha1.ManagedClusterAddOn, desired metav1.Condition) {
	stored := fleet.Degraded(addOn)
	if stored != nil && stored.Status == desired.Status && stored.Reason == desired.Reason {
		return
	}
	if r.EventLimiter != nil && !r.EventLimiter.TryAccept() {
		r.Metrics.EventLeftOut()
		return
	}
	eventType := corev1.EventTypeNormal
	if desired.Status == metav1.ConditionTrue {
		eventType = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(events.About(events.ManagedClusterAddOn, addOn), nil,
		eventType, desired.Reason, actionEvaluate, "%s", events.Note(desired.Message))
}

// emitContested emits an event on a Degraded that another writer keeps overwriting. The event omits
// the version of the add-on, so that repeated events are counted as one.
func (r *Reconciler) emitContested(addOn *addonv1alpha1.ManagedClusterAddOn) {
	about := events.About(events.ManagedClusterAddOn, addOn)
	about.ResourceVersion = ""
	r.Recorder.Eventf(about, nil,
		corev1.EventTypeWarning, EventContested, actionEvaluate,
		"Another writer keeps overwriting the condition Degraded; metadata.managedFields names it. "+
			"It is written again at growing intervals.")
}

// emitOpened emits an event with the reason why the gate was opened.
func (r *Reconciler) emitOpened(addOn *addonv1alpha1.ManagedClusterAddOn, because metav1.Condition) {
	r.Recorder.Eventf(events.About(events.ManagedClusterAddOn, addOn), nil,
		corev1.EventTypeNormal, EventOpened, actionOpen, "%s", events.Note(because.Message))
}
