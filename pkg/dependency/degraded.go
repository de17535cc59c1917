package dependency

import (
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// ConditionDegraded is the type of the condition that findings decide.
const ConditionDegraded = "Degraded"

const satisfiedMessage = "All declared dependencies are satisfied."

// Reasons lists every reason that Interlock sets on Degraded.
var Reasons = []string{
	addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
	addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
	addonv1alpha1.AddonDegradedReasonDependenciesSatisfied,
}

// Owned reports whether a Degraded condition says something of ours.
func Owned(condition *metav1.Condition) bool {
	return condition != nil && slices.Contains(Reasons, condition.Reason)
}

// Degraded decides the Degraded condition of a dependent from the findings on
// its edges and the condition that is stored (nil: none). It returns the
// condition to store, and false when nothing is to be written: nothing
// changed, nothing is known, or the stored condition is not ours to touch.
//
//   - a Required or IfInstalled edge, or a requirement, unsatisfied: True, RequiredDependencyNotSatisfied;
//     somebody else's Degraded=True is kept at the end of the message;
//   - else an edge held: what is stored, whatever the others say;
//   - else an Optional edge unsatisfied: True, DependencyNotSatisfied, unless
//     somebody else says Degraded=True;
//   - else, where a reason of ours is stored: False, DependenciesSatisfied.
//
// Now becomes the time of the transition when the status changes.
func Degraded(stored *metav1.Condition, findings []Finding, now metav1.Time) (metav1.Condition, bool) {
	desired, decided := decide(stored, findings)
	if !decided || (stored != nil && sameStatement(*stored, desired)) {
		return metav1.Condition{}, false
	}
	desired.Type = ConditionDegraded
	desired.LastTransitionTime = now
	if stored != nil && stored.Status == desired.Status {
		desired.LastTransitionTime = stored.LastTransitionTime
	}
	return desired, true
}

func decide(stored *metav1.Condition, findings []Finding) (metav1.Condition, bool) {
	foreign := stored != nil && stored.Status == metav1.ConditionTrue && !Owned(stored)
	switch {
	case slices.ContainsFunc(findings, func(f Finding) bool { return f.Unsatisfied() && blocking(f) }):
		return unsatisfied(stored, findings, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied), true
	case slices.ContainsFunc(findings, func(f Finding) bool { return f.Verdict == Held }):
		return metav1.Condition{}, false
	case slices.ContainsFunc(findings, Finding.Unsatisfied):
		return unsatisfied(stored, findings, addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied), !foreign
	default:
		return metav1.Condition{
			Status:  metav1.ConditionFalse,
			Reason:  addonv1alpha1.AddonDegradedReasonDependenciesSatisfied,
			Message: satisfiedMessage,
		}, Owned(stored)
	}
}

func unsatisfied(stored *metav1.Condition, findings []Finding, reason string) metav1.Condition {
	tail := tailOf(stored)
	return metav1.Condition{
		Status:  metav1.ConditionTrue,
		Reason:  reason,
		Message: Message(findings, MaxMessage-utf8.RuneCountInString(tail)) + tail,
	}
}

// tailOf is what is to be kept of somebody else's Degraded=True: the stored
// condition's own words, or what an earlier message of ours kept of them.
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

// Claim is what a condition of ours says by itself: without what it keeps of
// somebody else's words.
func Claim(condition metav1.Condition) metav1.Condition {
	if at := strings.LastIndex(condition.Message, foreignMark); at >= 0 {
		condition.Message = condition.Message[:at]
	}
	return condition
}

func sameStatement(a, b metav1.Condition) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
}
