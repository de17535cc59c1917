package gate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// ConditionInstallable is the condition of a ManagedClusterAddOn for an ordered installation. It is False, with the
// dependencies that the add-on waits for, until the add-on may be installed. Then it is True for as long as the add-on
// exists.
const ConditionInstallable = addonv1alpha1.ManagedClusterAddOnConditionInstallable

// The reasons of ConditionInstallable and ConditionUpgradable.
const (
	ReasonWaiting = "WaitingForDependencies"
	// ReasonContradiction means that the add-on contradicts add-ons that are installed on the managed cluster. OCM created
	// it there although protection is enforced. Only ConditionInstallable has it.
	ReasonContradiction = "Contradiction"
	ReasonSatisfied     = "RequiredDependenciesSatisfied"
	// ReasonOpened means that the add-on does not wait for its dependencies, or no longer waits.
	ReasonOpened = "GateOpened"
	// ReasonBegun means that OCM has begun to install the add-on although its gate is closed.
	ReasonBegun = "InstallationBegun"
)

// Reasons lists all these reasons.
var Reasons = []string{ReasonWaiting, ReasonContradiction, ReasonSatisfied, ReasonOpened, ReasonBegun}

// MessageSatisfied is the message with ReasonSatisfied.
const MessageSatisfied = "All Required dependencies have been satisfied; the add-on stays installed from now on."

// While a gate is closed, OCM's add-on manager tries to install the add-on after each write to it. For the whole fleet,
// that takes about two of the 50 requests that it sends per second. Messages change while dependencies become available,
// layer by layer. These limits leave the requests to installations.
const (
	// MessagesPerSecond is the number of add-ons with a closed gate whose messages change per second.
	MessagesPerSecond = 1
	// MessagesAtOnce is the number of messages that may change at once after a pause.
	MessagesAtOnce = 50
)

// OnlyMessage reports whether a write can wait: the gate is closed, and only the message of a condition changes.
func OnlyMessage(closed bool, stored *metav1.Condition, desired metav1.Condition) bool {
	return closed && stored != nil && stored.Status == desired.Status && stored.Reason == desired.Reason
}

// Condition returns the condition Installable for a decision. The second result is true if it differs from the stored
// condition, which may be nil. For Stay, the stored condition does not change.
func Condition(stored *metav1.Condition, decision Decision, now metav1.Time) (metav1.Condition, bool) {
	return conditionOf(ConditionInstallable, stored, decision, now)
}

func conditionOf(kind string, stored *metav1.Condition, decision Decision, now metav1.Time) (metav1.Condition, bool) {
	desired := metav1.Condition{
		Type:               kind,
		Status:             metav1.ConditionTrue,
		Reason:             decision.Reason,
		Message:            text.Final(decision.Message),
		LastTransitionTime: now,
	}
	if decision.Step == Wait {
		desired.Status = metav1.ConditionFalse
	}
	if stored != nil && stored.Status == desired.Status {
		desired.LastTransitionTime = stored.LastTransitionTime
	}
	return desired, decision.Step != Stay && (stored == nil || *stored != desired)
}

// Waits reports whether the condition shows that the add-on waits.
func Waits(installable *metav1.Condition) bool {
	return installable != nil && installable.Status == metav1.ConditionFalse &&
		(installable.Reason == ReasonWaiting || installable.Reason == ReasonContradiction)
}
