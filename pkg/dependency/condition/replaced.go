package condition

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxForeign is the maximum length of another writer's condition at the end of a message, in characters.
	maxForeign = 4096
	// foreignMark separates Interlock's message from the message of another writer's Degraded that it replaced.
	foreignMark = "; also Degraded: "
)

// foreign returns another writer's Degraded=True. It is stored as Degraded or, after Interlock has replaced it, as
// ReplacedDegraded. The result is nil without such a condition.
func (s Stored) foreign() *metav1.Condition {
	switch {
	case s.Degraded == nil || s.Degraded.Status != metav1.ConditionTrue:
		return nil
	case !Owned(s.Degraded):
		return s.Degraded
	case s.Replaced != nil && s.Replaced.Status == metav1.ConditionTrue:
		return s.Replaced
	}
	return nil
}

// replaced returns the condition ReplacedDegraded to write beside Degraded, which may be nil. The result is nil if the
// stored condition stays. It is set to False instead of being removed, because other writers may own it too.
func (s Stored) replaced(degraded, foreign *metav1.Condition, now metav1.Time) *metav1.Condition {
	isReplaced := s.Replaced != nil && s.Replaced.Status == metav1.ConditionTrue
	switch {
	case foreign != nil && Owned(degraded) && degraded.Status == metav1.ConditionTrue:
		if isReplaced && s.Replaced.Reason == foreign.Reason && s.Replaced.Message == foreign.Message {
			return nil
		}
		desired := *foreign
		desired.Type = addonv1alpha1.ManagedClusterAddOnConditionReplacedDegraded
		return &desired
	case isReplaced:
		return &metav1.Condition{
			Type: addonv1alpha1.ManagedClusterAddOnConditionReplacedDegraded, Status: metav1.ConditionFalse,
			Reason: addonv1alpha1.AddonReasonNothingReplaced, LastTransitionTime: now,
		}
	}
	return nil
}

// tail returns the end of the message of Degraded, with another writer's condition. It is empty if that is nil.
func tail(foreign *metav1.Condition) string {
	if foreign == nil {
		return ""
	}
	content := foreign.Reason
	if foreign.Message != "" {
		content += ": " + foreign.Message
	}
	return text.Final(foreignMark + text.Cut(text.OneLine(content), maxForeign))
}
