// Package condition decides the Degraded condition of an add-on from the findings on its edges, and composes its message.
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
	satisfiedMessage = "All declared dependencies are satisfied"
	// waivedMessage is the message if policies waive dependencies that fail or may fail.
	waivedMessage = "All declared dependencies are satisfied or waived"
)

// Reasons lists every reason that Interlock sets on Degraded.
var Reasons = []string{
	addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
	addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
	addonv1alpha1.AddonDegradedReasonDependenciesSatisfied,
}

// Owned reports whether a Degraded condition has a reason of Interlock.
func Owned(condition *metav1.Condition) bool {
	return condition != nil && slices.Contains(Reasons, condition.Reason)
}

// Outdated reports whether the stored condition is True although the findings show, for certain, that no such dependency
// fails. addon-manager has not followed the findings yet.
func Outdated(stored *metav1.Condition, findings []evaluation.Finding) bool {
	if !Owned(stored) || stored.Status != metav1.ConditionTrue {
		return false
	}
	optional := stored.Reason == addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
	return !slices.ContainsFunc(findings, func(f evaluation.Finding) bool {
		return (optional || f.Blocks()) && (f.Held() || f.Unsatisfied())
	})
}

// Stored has the stored conditions of an add-on that Decide depends on. Each is nil if it does not exist.
type Stored struct {
	Degraded *metav1.Condition
	// Replaced has the type ReplacedDegraded.
	Replaced *metav1.Condition
}

// Desired has the conditions to write. Each is nil if the stored condition stays.
type Desired struct {
	Degraded, Replaced *metav1.Condition
	// Own is Degraded without the message of another writer. Comparisons with it show whether another writer undoes
	// Interlock's writes.
	Own metav1.Condition
}

// Decide decides the Degraded condition of a dependent from the findings on its edges and the stored conditions. Degraded
// does not change if the findings did not change, if they are unknown, or if another writer's condition takes precedence.
//
// An edge blocks if it is Required, IfInstalled, Conflicts or a requirement. The first of these rules that matches counts:
//
//   - A blocking edge is unsatisfied: True, RequiredDependencyNotSatisfied. Another
//     writer's Degraded=True is kept as ReplacedDegraded, and at the end of the message.
//   - An edge is held: the stored condition, unless its reason is certainly
//     wrong; see whileHeld.
//   - An Optional edge is unsatisfied: True, DependencyNotSatisfied, unless
//     another writer has set Degraded=True.
//   - A reason of Interlock is stored: False, DependenciesSatisfied. It is also
//     written if a requested setting is not set, and no Degraded is stored.
//
// While an explanation in the message is unread, a change of the message alone is not written.
//
// Now becomes the transition time if the status changes.
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

// stays reports whether the stored condition does not change.
func stays(stored, desired metav1.Condition, findings []evaluation.Finding) bool {
	return stored.Status == desired.Status && stored.Reason == desired.Reason &&
		(stored.Message == desired.Message || slices.ContainsFunc(findings, func(f evaluation.Finding) bool {
			return f.Unexplained() || f.Unwitnessed()
		}))
}

// WaitsSince returns the time since when an add-on waits for the installation of a Required dependency, if that was not
// observed. It depends on the stored condition, which may be nil. changed is true if Decide writes another condition. The
// wait then begins now, unless a Required dependency failed before.
func WaitsSince(stored *metav1.Condition, changed bool, now time.Time) time.Time {
	if stored == nil || changed && !availability.RequiredFails(stored) {
		return now
	}
	return stored.LastTransitionTime.Time
}

// decision returns Degraded without the message of another writer. The second result is false if Interlock does not write
// it. limit is the maximum length of its message, in characters.
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
		unset := describeUnset(findings, ", but ")
		return metav1.Condition{
			Status: metav1.ConditionFalse, Reason: addonv1alpha1.AddonDegradedReasonDependenciesSatisfied,
			Message: text.Final(text.Cut(satisfied(findings)+unset+".", limit)),
		}, Owned(stored) || stored == nil && unset != ""
	}
}

// satisfied returns the message if no edge fails, without its end.
func satisfied(findings []evaluation.Finding) string {
	if slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Verdict == evaluation.Waived }) {
		return waivedMessage
	}
	return satisfiedMessage
}

// describeUnset describes the requested settings that are not set, as the end of a message. It begins with the conjunction.
func describeUnset(findings []evaluation.Finding, conjunction string) string {
	var clauses []string
	for i := range findings {
		clauses = append(clauses, findings[i].Unset()...)
	}
	if len(clauses) == 0 {
		return ""
	}
	slices.Sort(clauses)
	return conjunction + strings.Join(slices.Compact(clauses), separator)
}

// whileHeld decides while an edge is held and no blocking edge certainly fails. The stored condition stays as long as it
// may be true. Degraded becomes True only when that is certain, and False only when no edge is held.
//
//   - RequiredDependencyNotSatisfied is replaced when all blocking edges are
//     satisfied. The status stays True, because an Optional edge may still fail.
//   - DependenciesSatisfied is replaced when an Optional edge fails.
//   - Without a stored reason of Interlock, a failing Optional edge counts only
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

// optionalUnknown returns the condition that replaces RequiredDependencyNotSatisfied when all blocking edges are satisfied
// and the Optional edges are held or satisfied.
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
	satisfied := slices.DeleteFunc(slices.Clone(findings), evaluation.Finding.Unsatisfied) // the others have their own sentences
	return metav1.Condition{
		Status: metav1.ConditionTrue, Reason: reason, Message: text.Final(text.Cut(Message(findings, limit)+describeUnset(satisfied, separator), limit)),
	}
}
