// Package bundle decides the condition Available of a bundle: an add-on without an agent, which is available where all that
// it requires is.
package bundle

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of Available that only a bundle has. Where a Required dependency fails, the reason is that of Degraded.
const (
	ReasonAvailable = "BundleAvailable"
	// ReasonUnknown: what a bundle requires is not known yet.
	ReasonUnknown = "BundleUnknown"
	// ReasonReleased: the add-on is no bundle any more.
	ReasonReleased = "BundleReleased"
)

// Reasons are all of them.
var Reasons = []string{ReasonAvailable, ReasonUnknown, ReasonReleased}

// The messages with these reasons.
const (
	messageAvailable = "All that the bundle requires is available."
	messageUnknown   = "What the bundle requires is not known yet."
	messageReleased  = "The add-on is no bundle any more; waiting for its own health check."
)

// Input is what the decision is made on.
type Input struct {
	// Bundle: the registration of the add-on says that it is one.
	Bundle bool
	// Former is true where the add-on was a bundle, and OCM's agent still leaves its health to Interlock.
	Former bool
	// Lost: nothing new can be known of the managed cluster.
	Lost     bool
	Findings []evaluation.Finding
	// Stored is Available, and Degraded the other condition; nil: there is none.
	Stored, Degraded *metav1.Condition
	Now              metav1.Time
}

// Decision is what Available becomes, with the mode of the health check that keeps OCM's agent from writing it, or gives it
// back to that.
type Decision struct {
	Write     bool
	Condition metav1.Condition
	Mode      ocmv1alpha1.HealthCheckMode
}

// Decide decides on Available of an add-on. The report of a lost cluster stays, and so does what is stored while an edge is held.
// What Degraded says of a failing dependency counts word for word: the guard and addon-agent set the same, so no writer
// changes what another one has set.
func Decide(in Input) Decision {
	switch {
	case !in.Bundle:
		return in.release()
	case in.Stored != nil && (in.Lost || availability.ClusterLost(in.Stored) && in.any(evaluation.Finding.Held)):
		return Decision{}
	case availability.RequiredFails(in.Degraded):
		return in.become(metav1.ConditionFalse, availability.ReasonRequiredDependencyNotSatisfied, in.Degraded.Message)
	case in.Lost, in.any(evaluation.Finding.Held), in.any(evaluation.Finding.Unsatisfied):
		return in.unknown()
	}
	return in.become(metav1.ConditionTrue, ReasonAvailable, text.Final(messageAvailable))
}

// any reports whether that is true of an edge without which the bundle is not available.
func (in Input) any(is func(evaluation.Finding) bool) bool {
	return slices.ContainsFunc(in.Findings, func(f evaluation.Finding) bool { return f.Blocks() && is(f) })
}

// unknown leaves what is stored, apart from what OCM's agent sets because a bundle has no lease.
func (in Input) unknown() Decision {
	if in.Stored != nil && in.Stored.Reason != availability.ReasonLeaseNotFound {
		return Decision{}
	}
	return in.become(metav1.ConditionUnknown, ReasonUnknown, text.Final(messageUnknown))
}

// release gives Available of a former bundle to OCM's agent, once its cluster can be reached. While a Required dependency fails, Available
// stays False, as of any add-on.
func (in Input) release() Decision {
	isOwned := Owned(in.Stored) && in.Stored.Reason != ReasonReleased
	if !in.Former && !isOwned || in.Former && in.Lost {
		return Decision{}
	}
	status, reason, message := metav1.ConditionUnknown, ReasonReleased, text.Final(messageReleased)
	if availability.RequiredFails(in.Degraded) {
		status, reason, message = metav1.ConditionFalse, availability.ReasonRequiredDependencyNotSatisfied, in.Degraded.Message
	}
	released := in.become(status, reason, message)
	released.Write, released.Mode = released.Write || in.Former, ocmv1alpha1.HealthCheckModeLease
	if released.Condition.Type == "" { // only the mode changes
		released.Condition = *in.Stored
	}
	return released
}

// Owned reports whether Available, which may be nil, has a reason that only a bundle has.
func Owned(available *metav1.Condition) bool {
	return available != nil && slices.Contains(Reasons, available.Reason)
}

func (in Input) become(status metav1.ConditionStatus, reason, message string) Decision {
	desired := metav1.Condition{
		Type: availability.ConditionAvailable, Status: status, Reason: reason, Message: message, LastTransitionTime: in.Now,
	}
	if in.Stored != nil && in.Stored.Status == status {
		desired.LastTransitionTime = in.Stored.LastTransitionTime
		if in.Stored.Reason == reason && in.Stored.Message == message {
			return Decision{}
		}
	}
	return Decision{Write: true, Condition: desired, Mode: ocmv1alpha1.HealthCheckModeCustomized}
}
