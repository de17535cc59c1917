package ondemand

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/text"
)

// ReasonRefused is the reason of the condition Installed if the API server refuses Interlock's requests.
const ReasonRefused = "Refused"

// maxRefusal is the maximum length of an API server's response in a message, in characters.
const maxRefusal = 1024

// messages has the messages of the condition Installed, by reason.
var messages = map[string]string{
	string(dependencyv1alpha1.PhaseInstalling): "Interlock installs the add-on.",
	string(dependencyv1alpha1.PhaseInstalled):  "The add-on is installed.",
	string(dependencyv1alpha1.PhaseUnused):     "No add-on on the cluster uses it any more. Interlock removes it after --lifecycle-removal-delay.",
	string(dependencyv1alpha1.PhaseRemoving):   "Interlock removes the add-on, because none on the cluster uses it any more.",
	string(dependencyv1alpha1.PhaseKept):       "Another writer has changed the add-on, so Interlock does not remove it.",
	string(installation.NeedsConsent):          "The owner of the add-on does not let Interlock install or remove it any more.",
	string(installation.DeniedByPolicy):        "A policy denies installations and removals on this cluster.",
	string(installation.NeedsPlacement):        "One Placement installs the add-on on a limited number of clusters. Its owner has to list a second one.",
	string(installation.ClusterInDoubt):        "The cluster cannot be reached, or its state is not known yet, so Interlock does nothing.",
	string(installation.Contradiction):         "The add-on would contradict or break other add-ons on this cluster.",
	string(installation.NeedsApproval):         "A change of so many clusters waits for an approval.",
	string(installation.Delayed):               "Interlock changes a part of the clusters each minute.",
	string(installation.GivenUpForAWhile):      "Another writer has removed the add-on again and again.",
}

// messageLabeled is the message after the managed cluster is labeled. A Placement selects no cluster without a binding.
const messageLabeled = "The cluster has the label. OCM installs the add-on once a Placement of its owner selects the cluster. " +
	"Its namespace needs a ManagedClusterSetBinding."

// conditionOf returns the condition Installed for a decision.
func conditionOf(decision installation.Decision, now time.Time) metav1.Condition {
	condition := metav1.Condition{
		Type:               dependencyv1alpha1.ConditionInstalled,
		Status:             metav1.ConditionFalse,
		Reason:             string(decision.Blocker),
		LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	}
	if decision.Desired == nil {
		return condition
	}
	switch decision.Desired.Phase {
	case dependencyv1alpha1.PhaseInstalled, dependencyv1alpha1.PhaseUnused, dependencyv1alpha1.PhaseRemoving, dependencyv1alpha1.PhaseKept:
		condition.Status = metav1.ConditionTrue
	case dependencyv1alpha1.PhaseInstalling, dependencyv1alpha1.PhaseGivenUp:
	}
	if decision.Blocker == installation.NotBlocked {
		condition.Reason = string(decision.Desired.Phase)
	}
	condition.Message = text.Final(messages[condition.Reason])
	if condition.Reason == string(dependencyv1alpha1.PhaseInstalling) && !decision.Desired.LabeledSince.IsZero() {
		condition.Message = text.Final(messageLabeled)
	}
	return condition
}

// isRefused reports whether the stored condition shows that the last step was refused.
func isRefused(s *subject) bool {
	last := lastCondition(s)
	return last != nil && last.Reason == ReasonRefused
}

// lastCondition returns the stored condition Installed. It is nil if there is none.
func lastCondition(s *subject) *metav1.Condition {
	if s.object == nil {
		return nil
	}
	return meta.FindStatusCondition(s.object.Status.Conditions, dependencyv1alpha1.ConditionInstalled)
}

// conditionBefore returns the condition Installed before a step. A refusal stays until the step succeeds, so it is not written
// again after each attempt.
func conditionBefore(s *subject, decision installation.Decision, now time.Time) metav1.Condition {
	if last := lastCondition(s); decision.Step != installation.Rest && last != nil && last.Reason == ReasonRefused {
		return *last
	}
	return conditionOf(decision, now)
}

// refusedCondition returns the condition Installed after the API server has refused a step.
func refusedCondition(decision installation.Decision, err error, now time.Time) metav1.Condition {
	condition := conditionOf(decision, now)
	condition.Reason = ReasonRefused
	condition.Message = text.Final(fmt.Sprintf("Interlock tries again: %s", text.Cut(text.OneLine(err.Error()), maxRefusal)))
	return condition
}
