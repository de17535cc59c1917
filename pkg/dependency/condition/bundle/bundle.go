// Package bundle decides the condition Available of a bundle. A bundle is an add-on without an agent, which is available
// if all its dependencies are satisfied.
package bundle

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of Available that only a bundle has. If a Required dependency fails, the reason is the reason of Degraded.
const (
	ReasonAvailable = "BundleAvailable"
	// ReasonUnknown means that the state of the dependencies is not known yet.
	ReasonUnknown = "BundleUnknown"
	// ReasonReleased means that the add-on is no longer a bundle.
	ReasonReleased = "BundleReleased"
)

// Reasons lists all these reasons.
var Reasons = []string{ReasonAvailable, ReasonUnknown, ReasonReleased}

// The messages with these reasons.
const (
	messageAvailable = "All that the bundle requires is available."
	messageUnknown   = "What the bundle requires is not known yet."
	messageReleased  = "The add-on is no bundle any more; waiting for its own health check."
)

// Input is the input of a decision.
type Input struct {
	// Bundle is true if the registration declares the add-on as a bundle.
	Bundle bool
	// Former is true if the add-on was a bundle, and OCM's agent still leaves its health to Interlock.
	Former bool
	// Lost is true if the managed cluster cannot report.
	Lost     bool
	Findings []evaluation.Finding
	// Stored and Degraded are the stored conditions Available and Degraded. Each is nil if it does not exist.
	Stored, Degraded *metav1.Condition
	Now              metav1.Time
}

// Decision is the new Available, with the mode of the health check. The mode makes OCM's agent leave Available alone, or
// gives it back to that agent.
type Decision struct {
	Write     bool
	Condition metav1.Condition
	Mode      ocmv1alpha1.HealthCheckMode
}

// Decide decides on Available of an add-on. The report of a lost cluster stays. The stored condition stays while an edge
// is held. The message of Degraded about a failing dependency is copied word for word: the guard and addon-agent do the
// same, so the writers do not undo each other's changes.
func Decide(input Input) Decision {
	switch {
	case !input.Bundle:
		return input.release()
	case input.Stored != nil && (input.Lost || availability.ClusterLost(input.Stored) && input.anyBlocking(evaluation.Finding.Held)):
		return Decision{}
	case availability.RequiredFails(input.Degraded):
		return input.become(metav1.ConditionFalse, availability.ReasonRequiredDependencyNotSatisfied, input.Degraded.Message)
	case input.Lost, input.anyBlocking(evaluation.Finding.Held), input.anyBlocking(evaluation.Finding.Unsatisfied):
		return input.unknown()
	}
	return input.become(metav1.ConditionTrue, ReasonAvailable, text.Final(messageAvailable))
}

// anyBlocking reports whether match is true for a finding on an edge that the bundle needs.
func (input Input) anyBlocking(match func(evaluation.Finding) bool) bool {
	return slices.ContainsFunc(input.Findings, func(f evaluation.Finding) bool { return f.Blocks() && match(f) })
}

// unknown keeps the stored condition, unless OCM's agent set it because a bundle has no lease.
func (input Input) unknown() Decision {
	if input.Stored != nil && input.Stored.Reason != availability.ReasonLeaseNotFound {
		return Decision{}
	}
	return input.become(metav1.ConditionUnknown, ReasonUnknown, text.Final(messageUnknown))
}

// release gives Available of a former bundle back to OCM's agent after its cluster can be reached. While a Required
// dependency fails, Available stays False, like the Available of any add-on.
func (input Input) release() Decision {
	isOwned := Owned(input.Stored) && input.Stored.Reason != ReasonReleased
	if !input.Former && !isOwned || input.Former && input.Lost {
		return Decision{}
	}
	status, reason, message := metav1.ConditionUnknown, ReasonReleased, text.Final(messageReleased)
	if availability.RequiredFails(input.Degraded) {
		status, reason, message = metav1.ConditionFalse, availability.ReasonRequiredDependencyNotSatisfied, input.Degraded.Message
	}
	decision := input.become(status, reason, message)
	decision.Write, decision.Mode = decision.Write || input.Former, ocmv1alpha1.HealthCheckModeLease
	if decision.Condition.Type == "" { // only the mode changes
		decision.Condition = *input.Stored
	}
	return decision
}

// Owned reports whether Available, which may be nil, has a reason that only a bundle has.
func Owned(available *metav1.Condition) bool {
	return available != nil && slices.Contains(Reasons, available.Reason)
}

func (input Input) become(status metav1.ConditionStatus, reason, message string) Decision {
	desired := metav1.Condition{
		Type:               availability.ConditionAvailable,
		Status:             status,
		Reason:             reason,
		Message:            message,
		LastTransitionTime: input.Now,
	}
	if input.Stored != nil && input.Stored.Status == status {
		desired.LastTransitionTime = input.Stored.LastTransitionTime
		if input.Stored.Reason == reason && input.Stored.Message == message {
			return Decision{}
		}
	}
	return Decision{Write: true, Condition: desired, Mode: ocmv1alpha1.HealthCheckModeCustomized}
}
