// Package condition decides the Degraded condition of an add-on from the findings
// on its edges, and writes its message.
package condition

import (
	"slices"
	"strings"
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

// Decide decides the Degraded condition of a dependent from the findings on
// its edges and the condition that is stored (nil: none). It returns the
// condition to store, and false when nothing is to be written: nothing
// changed, nothing is known, or the stored condition is not ours to touch.
//
// An edge blocks when it is Required, IfInstalled, Conflicts or a requirement.
//
//   - A blocking edge unsatisfied: True, RequiredDependencyNotSatisfied; another
//     writer's Degraded=True is kept at the end of the message.
//   - Else an edge held: what is stored, unless its reason is known to be
//     untrue; see whileHeld.
//   - Else an Optional edge unsatisfied: True, DependencyNotSatisfied, unless
//     another writer has set Degraded=True.
//   - Else, where a reason of ours is stored: False, DependenciesSatisfied.
//
// Now becomes the time of the transition when the status changes.
func Decide(stored *metav1.Condition, findings []evaluation.Finding, now metav1.Time) (metav1.Condition, bool) {
	desired, decided := decision(stored, asReported(stored, findings))
	if !decided || (stored != nil && sameStatement(*stored, desired)) {
		return metav1.Condition{}, false
	}
	desired.Type = addonv1alpha1.ManagedClusterAddOnConditionDegraded
	desired.LastTransitionTime = now
	if stored != nil && stored.Status == desired.Status {
		desired.LastTransitionTime = stored.LastTransitionTime
	}
	return desired, true
}

// asReported returns the findings with the explanations that the stored message has of them, where
// what explains them could not be read yet.
func asReported(stored *metav1.Condition, findings []evaluation.Finding) []evaluation.Finding {
	if stored == nil || !slices.ContainsFunc(findings, evaluation.Finding.Unexplained) {
		return findings
	}
	reported := slices.Clone(findings)
	for i := range reported {
		if assumed := reported[i].Assumed(); reported[i].Unexplained() && strings.Contains(stored.Message, Message([]evaluation.Finding{assumed}, MaxMessage)) {
			reported[i] = assumed
		}
	}
	return reported
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

func decision(stored *metav1.Condition, findings []evaluation.Finding) (metav1.Condition, bool) {
	blockingFails := slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Unsatisfied() && f.Blocks() })
	optionalFails := slices.ContainsFunc(findings, evaluation.Finding.Unsatisfied)
	held := slices.ContainsFunc(findings, evaluation.Finding.Held)
	switch {
	case blockingFails:
		return unsatisfied(stored, findings, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied), true
	case held:
		return whileHeld(stored, findings, optionalFails)
	case optionalFails:
		return optionalUnsatisfied(stored, findings)
	default:
		message := satisfiedMessage
		if slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Verdict == evaluation.Waived }) {
			message = waivedMessage
		}
		return metav1.Condition{
			Status: metav1.ConditionFalse, Reason: addonv1alpha1.AddonDegradedReasonDependenciesSatisfied, Message: message,
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
func whileHeld(stored *metav1.Condition, findings []evaluation.Finding, optionalFails bool) (metav1.Condition, bool) {
	blockingHeld := slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Held() && f.Blocks() })
	lastSatisfied := Owned(stored) && stored.Reason == addonv1alpha1.AddonDegradedReasonDependenciesSatisfied
	switch {
	case optionalFails && lastSatisfied,
		optionalFails && !blockingHeld && (!Owned(stored) || availability.RequiredFails(stored)):
		return optionalUnsatisfied(stored, findings)
	case !blockingHeld && availability.RequiredFails(stored):
		return optionalUnknown(stored, findings), true
	default:
		return metav1.Condition{}, false
	}
}

func optionalUnsatisfied(stored *metav1.Condition, findings []evaluation.Finding) (metav1.Condition, bool) {
	foreign := stored != nil && stored.Status == metav1.ConditionTrue && !Owned(stored)
	return unsatisfied(stored, findings, addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied), !foreign
}

// optionalUnknown replaces RequiredDependencyNotSatisfied when all blocking
// edges are satisfied and the Optional ones are held or satisfied.
func optionalUnknown(stored *metav1.Condition, findings []evaluation.Finding) metav1.Condition {
	var names []string
	for _, finding := range findings {
		if finding.Held() {
			names = append(names, finding.Name())
		}
	}
	slices.Sort(names)
	return metav1.Condition{
		Status:  metav1.ConditionTrue,
		Reason:  addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
		Message: "All Required dependencies are satisfied. Optional ones are not known yet: " + text.Names(names, ", ") + "." + tailOf(stored),
	}
}

func unsatisfied(stored *metav1.Condition, findings []evaluation.Finding, reason string) metav1.Condition {
	tail := tailOf(stored)
	return metav1.Condition{
		Status:  metav1.ConditionTrue,
		Reason:  reason,
		Message: Message(findings, MaxMessage-utf8.RuneCountInString(tail)) + tail,
	}
}

// tailOf is what is to be kept of another writer's Degraded=True: the stored
// condition's message, or what an earlier message of ours kept of it.
func tailOf(stored *metav1.Condition) string {
	switch {
	case stored == nil || stored.Status != metav1.ConditionTrue:
		return ""
	case Owned(stored):
		return keptTail(stored.Message)
	default:
		return foreignTail(stored)
	}
}

// WithoutForeign returns a condition of ours without what its message keeps of
// another writer's condition.
func WithoutForeign(condition metav1.Condition) metav1.Condition {
	if at := strings.LastIndex(condition.Message, foreignMark); at >= 0 {
		condition.Message = condition.Message[:at]
	}
	return condition
}

func sameStatement(a, b metav1.Condition) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
}
