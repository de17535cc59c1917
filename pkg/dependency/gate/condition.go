package gate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// ConditionInstallable is the condition of a ManagedClusterAddOn for an ordered installation. It is False, with what the
// add-on waits for, until the add-on may be installed, and then True for as long as the add-on exists.
const ConditionInstallable = addonv1alpha1.ManagedClusterAddOnConditionInstallable

// The reasons of ConditionInstallable and ConditionUpgradable.
const (
	ReasonWaiting = "WaitingForDependencies"
	// ReasonContradiction: the add-on contradicts add-ons that are installed on the managed cluster, and OCM created it there, where
	// protection is enforced; only ConditionInstallable has it.
	ReasonContradiction = "Contradiction"
	ReasonSatisfied     = "RequiredDependenciesSatisfied"
	// ReasonOpened: the add-on does not wait for its dependencies, or no longer.
	ReasonOpened = "GateOpened"
	// ReasonBegun: OCM has begun to install the add-on although its gate is closed.
	ReasonBegun = "InstallationBegun"
)

// Reasons are all of them.
var Reasons = []string{ReasonWaiting, ReasonContradiction, ReasonSatisfied, ReasonOpened, ReasonBegun}

// MessageSatisfied is the message with ReasonSatisfied.
const MessageSatisfied = "All Required dependencies have been satisfied; the add-on stays installed from now on."

// While a gate is closed, OCM's add-on manager tries to install the add-on after each write to it. That takes about two of the 50 requests
// that it sends in a second, for the whole fleet. Layer by layer, dependencies become available, and so messages change. These limits leave
// the requests to installations.
const (
	// MessagesPerSecond is how many add-ons with a closed gate have their messages changed in a second.
	MessagesPerSecond = 1
	// MessagesAtOnce is how many have them changed at once, after a pause.
	MessagesAtOnce = 50
)

// OnlyMessage reports whether a write can wait: while the gate is closed, a condition that says the same in other words.
func OnlyMessage(closed bool, stored *metav1.Condition, desired metav1.Condition) bool {
	return closed && stored != nil && stored.Status == desired.Status && stored.Reason == desired.Reason
}

// Condition returns the condition Installable for a decision, and whether the stored one, which may be nil, differs.
// Where nothing is to be done, the stored one stays.
func Condition(stored *metav1.Condition, decision Decision, now metav1.Time) (desired metav1.Condition, changed bool) {
	return conditionOf(ConditionInstallable, stored, decision, now)
}

func conditionOf(kind string, stored *metav1.Condition, decision Decision, now metav1.Time) (desired metav1.Condition, changed bool) {
	desired = metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: decision.Reason, Message: text.Final(decision.Message), LastTransitionTime: now,
	}
	if decision.Step == Wait {
		desired.Status = metav1.ConditionFalse
	}
	if stored != nil && stored.Status == desired.Status {
		desired.LastTransitionTime = stored.LastTransitionTime
	}
	return desired, decision.Step != Stay && (stored == nil || *stored != desired)
}

// Waits reports whether the condition says that the add-on waits.
func Waits(installable *metav1.Condition) bool {
	return installable != nil && installable.Status == metav1.ConditionFalse &&
		(installable.Reason == ReasonWaiting || installable.Reason == ReasonContradiction)
}
