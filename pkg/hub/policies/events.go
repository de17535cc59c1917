package policies

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of events on an AddOnDependencyPolicy.
const (
	// EventWaived: the policy waives dependencies, since it was written.
	EventWaived = "DependencyWaived"
	// EventWaiverEnded: a waiver has ended. The dependency counts again as declared.
	EventWaiverEnded = "WaiverEnded"
	// EventInvalid: an override cannot be used.
	EventInvalid = "PolicyInvalid"
	// EventConflicting: another policy contradicts this one.
	EventConflicting = "PolicyConflicting"
)

const actionApply = "ApplyPolicy"

// emit emits events on what the new status says and the stored one does not.
func (r *Reconciler) emit(of *stored, status dependencyv1alpha1.AddOnDependencyPolicyStatus) {
	about := events.About(dependencyv1alpha1.PolicyKind.Kind, of)
	about.APIVersion = dependencyv1alpha1.GroupVersion.String()
	event := func(kind, reason, message string) {
		r.Recorder.Eventf(about, nil, kind, reason, actionApply, "%s", events.Note(message))
	}
	for condition, reason := range map[string]string{
		dependencyv1alpha1.PolicyAccepted: EventInvalid, dependencyv1alpha1.PolicyConflicting: EventConflicting,
	} {
		is, was := meta.FindStatusCondition(status.Conditions, condition), meta.FindStatusCondition(of.Status.Conditions, condition)
		bad := is != nil && (is.Reason == dependencyv1alpha1.ReasonInvalid || is.Reason == dependencyv1alpha1.ReasonStricterCounts)
		if bad && (was == nil || was.Status != is.Status) {
			event(corev1.EventTypeWarning, reason, is.Message)
		}
	}
	if waived := waivers(of, status); len(waived) > 0 && of.Status.ObservedGeneration != of.Generation {
		event(corev1.EventTypeNormal, EventWaived, strings.Join(waived, "; "))
	}
	if ended := newlyEnded(of, status); len(ended) > 0 {
		event(corev1.EventTypeWarning, EventWaiverEnded, strings.Join(ended, "; "))
	}
}

// waivers describes the waivers in force.
func waivers(of *stored, status dependencyv1alpha1.AddOnDependencyPolicyStatus) (waived []string) {
	for i := range of.Spec.Overrides {
		declared := &of.Spec.Overrides[i]
		if declared.Waive == nil || i >= len(status.Overrides) || status.Overrides[i].Message != "" {
			continue
		}
		waived = append(waived, fmt.Sprintf("%s → %s is waived on %s until %s: %s", declared.AddOn, declared.Dependency,
			text.Count(int(status.Overrides[i].Clusters), "cluster"), declared.Waive.Until.UTC().Format(time.RFC3339), declared.Waive.Reason))
	}
	return waived
}

// newlyEnded describes the waivers that have ended since the status that is stored.
func newlyEnded(of *stored, status dependencyv1alpha1.AddOnDependencyPolicyStatus) (ended []string) {
	for _, override := range status.Overrides {
		if !override.Ended {
			continue
		}
		known := false
		for _, before := range of.Status.Overrides {
			known = known || before.AddOn == override.AddOn && before.Dependency == override.Dependency && before.Ended
		}
		if !known {
			ended = append(ended, fmt.Sprintf("%s → %s, on %s: %s", override.AddOn, override.Dependency,
				text.Count(int(override.Clusters), "cluster"), override.Message))
		}
	}
	return ended
}
