package policies

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of events on an AddOnDependencyPolicy.
const (
	// EventWaived means that a new or changed policy waives dependencies.
	EventWaived = "DependencyWaived"
	// EventWaiverEnded means that a waiver has ended. The dependency counts again as declared.
	EventWaiverEnded = "WaiverEnded"
	// EventInvalid means that an override cannot be used.
	EventInvalid = "PolicyInvalid"
	// EventConflicting means that another policy contradicts this policy.
	EventConflicting = "PolicyConflicting"
)

const actionApply = "ApplyPolicy"

// emit emits events on the differences between the stored status and the new status.
func (r *Reconciler) emit(p *dependencyPolicy, status dependencyv1alpha1.AddOnDependencyPolicyStatus) {
	about := events.About(dependencyv1alpha1.PolicyKind.Kind, p)
	about.APIVersion = dependencyv1alpha1.GroupVersion.String()
	event := func(kind, reason, message string) {
		r.Recorder.Eventf(about, nil, kind, reason, actionApply, "%s", events.Note(message))
	}
	for condition, reason := range map[string]string{
		dependencyv1alpha1.PolicyAccepted: EventInvalid, dependencyv1alpha1.PolicyConflicting: EventConflicting,
	} {
		current, previous := meta.FindStatusCondition(status.Conditions, condition), meta.FindStatusCondition(p.Status.Conditions, condition)
		bad := current != nil && (current.Reason == dependencyv1alpha1.ReasonInvalid || current.Reason == dependencyv1alpha1.ReasonStricterCounts)
		if bad && (previous == nil || previous.Status != current.Status) {
			event(corev1.EventTypeWarning, reason, current.Message)
		}
	}
	if waived := waivers(p, status); len(waived) > 0 && p.Status.ObservedGeneration != p.Generation {
		event(corev1.EventTypeNormal, EventWaived, strings.Join(waived, "; "))
	}
	if ended := newlyEnded(p, status); len(ended) > 0 {
		event(corev1.EventTypeWarning, EventWaiverEnded, strings.Join(ended, "; "))
	}
}

// waivers returns descriptions of the waivers in force.
func waivers(p *dependencyPolicy, status dependencyv1alpha1.AddOnDependencyPolicyStatus) []string {
	var waived []string
	for i := range p.Spec.Overrides {
		override := &p.Spec.Overrides[i]
		if override.Waive == nil || i >= len(status.Overrides) || status.Overrides[i].Message != "" {
			continue
		}
		waived = append(waived, fmt.Sprintf("%s → %s is waived on %s until %s: %s", override.AddOn, override.Dependency,
			text.Count(int(status.Overrides[i].Clusters), "cluster"), override.Waive.Until.UTC().Format(time.RFC3339), override.Waive.Reason))
	}
	return waived
}

// newlyEnded returns descriptions of the waivers that have ended since the stored status.
func newlyEnded(p *dependencyPolicy, status dependencyv1alpha1.AddOnDependencyPolicyStatus) []string {
	var ended []string
	for _, override := range status.Overrides {
		if !override.Ended {
			continue
		}
		reported := false
		for _, previous := range p.Status.Overrides {
			reported = reported || previous.AddOn == override.AddOn && previous.Dependency == override.Dependency && previous.Ended
		}
		if !reported {
			ended = append(ended, fmt.Sprintf("%s → %s, on %s: %s", override.AddOn, override.Dependency,
				text.Count(int(override.Clusters), "cluster"), override.Message))
		}
	}
	return ended
}
