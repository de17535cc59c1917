// Package condition decides the Degraded condition of an add-on from the findings
// on its edges, and writes its message.
package condition

import (
	"slices"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	satisfiedMessage = "All declared dependencies are satisfied."
	// waivedMessage is where some are not, or may not be, and policies waive these.
	waivedMessage = "All declared dependencies are satisfied or waived."
)

// Reasons lists every reason that Interlock sets on Degraded.
var Reasons = []string{
	addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
	addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
	addonv1alpha1.AddonDegradedReasonDependenciesSatisfied,
}

// Owned reports whether a Degraded condition has a reason of ours.
func Owned(condition *metav1.Condition) bool {
	return condition != nil && slices.Contains(Reasons, condition.Reason)
}

// Outdated reports whether the stored condition says that a dependency fails, although the
// findings on its edges say, for certain, that none does for which it would: addon-manager
// has not followed them.
func Outdated(stored *metav1.Condition, findings []evaluation.Finding) bool {
	if !Owned(stored) || stored.Status != metav1.ConditionTrue {
		return false
	}
	optional := stored.Reason == addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
	return !slices.ContainsFunc(findings, func(f evaluation.Finding) bool {
		return (optional || f.Blocks()) && (f.Held() || f.Unsatisfied())
	})
}

// Stored are the stored conditions of an add-on that Decide depends on. Each is nil where it does not exist.
type Stored struct {
	Degraded *metav1.Condition
	// Replaced has the type ReplacedDegraded.
	Replaced *metav1.Condition
}

// Desired are the conditions to write. Each is nil where the stored one stays.
type Desired struct {
	Degraded, Replaced *metav1.Condition
	// Own is Degraded without the message of another writer. Writes of it are compared to find out whether another writer undoes them.
	Own metav1.Condition
}

// Decide decides the Degraded condition of a dependent from the findings on
// its edges and the conditions that are stored. Degraded stays when nothing
// changed, nothing is known, or the stored condition is not ours to touch.
//
// An edge blocks when it is Required, IfInstalled, Conflicts or a requirement.
//
//   - A blocking edge unsatisfied: True, RequiredDependencyNotSatisfied. Another
//     writer's Degraded=True is kept as ReplacedDegraded, and at the end of the message.
//   - Else an edge held: what is stored, unless its reason is known to be
//     untrue; see whileHeld.
//   - Else an Optional edge unsatisfied: True, DependencyNotSatisfied, unless
//     another writer has set Degraded=True.
//   - Else, where a reason of ours is stored: False, DependenciesSatisfied.
//
// While an explanation in the message cannot be read yet, a message alone is not changed.
//
// Now becomes the time of the transition when the status changes.
func Decide(stored Stored, findings []evaluation.Finding, now metav1.Time) Desired {
	foreign := stored.foreign()
	own, decided := decision(stored.Degraded, findings, MaxMessage-utf8.RuneCountInString(tail(foreign)))
	if !decided {
		return Desired{Replaced: stored.replaced(stored.Degraded, foreign, now)}
	}
	own.Type, own.LastTransitionTime = addonv1alpha1.ManagedClusterAddOnConditionDegraded, now
	if stored.Degraded != nil && stored.Degraded.Status == own.Status {
		own.LastTransitionTime = stored.Degraded.LastTransitionTime
	}
	degraded := own
	if own.Status == metav1.ConditionTrue {
		degraded.Message += tail(foreign)
	}
	desired := Desired{Degraded: &degraded, Own: own, Replaced: stored.replaced(&degraded, foreign, now)}
	if stored.Degraded != nil && stays(*stored.Degraded, degraded, findings) {
		desired.Degraded = nil
	}
	return desired
}

// stays reports whether the stored condition stays as it is.
func stays(stored, desired metav1.Condition, findings []evaluation.Finding) bool {
	return stored.Status == desired.Status && stored.Reason == desired.Reason &&
		(stored.Message == desired.Message || slices.ContainsFunc(findings, func(f evaluation.Finding) bool {
			return f.Unexplained() || f.Unwitnessed()
		}))
}

// WaitsSince is since when an add-on waits for a Required dependency to be installed, if that was not
// observed. Only the stored condition (nil: none) shows it. changed is whether Decide writes another
// one: unless a Required dependency failed already, the wait then begins now.
func WaitsSince(stored *metav1.Condition, changed bool, now time.Time) time.Time {
	if stored == nil || changed && !availability.RequiredFails(stored) {
		return now
	}
	return stored.LastTransitionTime.Time
}

// decision returns Degraded without the message of another writer, and whether it is Interlock's to write. limit is the length of its
// message, in characters.
func decision(stored *metav1.Condition, findings []evaluation.Finding, limit int) (metav1.Condition, bool) {
	blockingFails := slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Unsatisfied() && f.Blocks() })
	optionalFails := slices.ContainsFunc(findings, evaluation.Finding.Unsatisfied)
	held := slices.ContainsFunc(findings, evaluation.Finding.Held)
	switch {
	case blockingFails:
		return unsatisfied(findings, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, limit), true
	case held:
		return whileHeld(stored, findings, optionalFails, limit)
	case optionalFails:
		return optionalUnsatisfied(stored, findings, limit)
	default:
		message := satisfiedMessage
		if slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Verdict == evaluation.Waived }) {
			message = waivedMessage
		}
		return metav1.Condition{
			Status: metav1.ConditionFalse, Reason: addonv1alpha1.AddonDegradedReasonDependenciesSatisfied, Message: text.Final(message),
		}, Owned(stored)
	}
}

// whileHeld decides while an edge is held and no blocking edge is known to
// fail. What is stored stays as long as it may be true: Degraded becomes True
// once that is certain, and False only when nothing is held.
//
//   - RequiredDependencyNotSatisfied is replaced when all blocking edges are
//     satisfied. The status stays True, because an Optional edge may still fail.
//   - DependenciesSatisfied is replaced when an Optional edge fails.
//   - Where no reason of ours is stored, an Optional edge that fails counts only
//     when all blocking edges are satisfied. Otherwise a new declaration could
//     cause two writes on the whole fleet.
func whileHeld(stored *metav1.Condition, findings []evaluation.Finding, optionalFails bool, limit int) (metav1.Condition, bool) {
	blockingHeld := slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Held() && f.Blocks() })
	lastSatisfied := Owned(stored) && stored.Reason == addonv1alpha1.AddonDegradedReasonDependenciesSatisfied
	switch {
	case optionalFails && lastSatisfied,
		optionalFails && !blockingHeld && (!Owned(stored) || availability.RequiredFails(stored)):
		return optionalUnsatisfied(stored, findings, limit)
	case !blockingHeld && availability.RequiredFails(stored):
		return optionalUnknown(findings), true
	default:
		return metav1.Condition{}, false
	}
}

func optionalUnsatisfied(stored *metav1.Condition, findings []evaluation.Finding, limit int) (metav1.Condition, bool) {
	foreign := stored != nil && stored.Status == metav1.ConditionTrue && !Owned(stored)
	return unsatisfied(findings, addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied, limit), !foreign
}

// optionalUnknown replaces RequiredDependencyNotSatisfied when all blocking
// edges are satisfied and the Optional ones are held or satisfied.
func optionalUnknown(findings []evaluation.Finding) metav1.Condition {
	var names []string
	for _, finding := range findings {
		if finding.Held() {
			names = append(names, finding.Name())
		}
	}
	slices.Sort(names)
	return metav1.Condition{
		Status: metav1.ConditionTrue,
		Reason: addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
		Message: text.Final("All Required dependencies are satisfied. Optional ones are not known yet: " +
			text.Names(names, ", ") + "."),
	}
}

func unsatisfied(findings []evaluation.Finding, reason string, limit int) metav1.Condition {
	return metav1.Condition{Status: metav1.ConditionTrue, Reason: reason, Message: text.Final(Message(findings, limit))}
}
