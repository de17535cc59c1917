package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	leaseStopped    = "ManagedClusterAddOnLeaseUpdateStopped"
	requiredMissing = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	optionalMissing = addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
	conditionTrue   = string(metav1.ConditionTrue)
	conditionFalse  = string(metav1.ConditionFalse)
)

// expectation is the expected state of one add-on on one cluster.
type expectation struct {
	cluster, addOn string
	deleted        bool
	available      string
	// reason is the reason of Available. Empty means any reason.
	reason string
	// degraded is the reason of Degraded=True. Empty means that the add-on is not degraded.
	degraded string
	// messageParts are parts of Degraded's message, in this order.
	messageParts []string
}

// available expects that the add-on works, with all its dependencies.
func available(cluster, addOn string) expectation {
	return expectation{cluster: cluster, addOn: addOn, available: conditionTrue}
}

// reduced expects that the add-on works, without an Optional dependency.
//
//nolint:unparam // all expectations look alike: a cluster, an add-on, parts of the message
func reduced(cluster, addOn string, messageParts ...string) expectation {
	return expectation{cluster: cluster, addOn: addOn, available: conditionTrue, degraded: optionalMissing, messageParts: messageParts}
}

// blocked expects that the add-on cannot work, because a Required dependency fails.
func blocked(cluster, addOn string, messageParts ...string) expectation {
	return expectation{
		cluster: cluster, addOn: addOn, available: conditionFalse, reason: requiredMissing,
		degraded: requiredMissing, messageParts: messageParts,
	}
}

// dead expects that the add-on's own agent has stopped renewing its lease.
func dead(cluster, addOn string) expectation {
	return expectation{cluster: cluster, addOn: addOn, available: conditionFalse, reason: leaseStopped}
}

// uninstalled expects that the add-on is not on the cluster any more.
func uninstalled(cluster, addOn string) expectation {
	return expectation{cluster: cluster, addOn: addOn, deleted: true}
}

func (e expectation) key() types.NamespacedName { return key(e.cluster, e.addOn) }

// mismatch describes how an add-on differs from the expectation. A nil add-on is not installed.
func (e expectation) mismatch(addOn *installed) string {
	if addOn == nil || e.deleted {
		if (addOn == nil) == e.deleted {
			return ""
		}
		return fmt.Sprintf("expected deleted: %t, seen deleted: %t", e.deleted, addOn == nil)
	}
	isAvailable := condition(addOn, "Available")
	degraded := condition(addOn, "Degraded")
	switch {
	case isAvailable.Status != metav1.ConditionStatus(e.available) || (e.reason != "" && isAvailable.Reason != e.reason):
		return differs("Available", e.available, e.reason, isAvailable)
	case e.degraded == "" && degraded.Status == metav1.ConditionTrue:
		return differs("Degraded", conditionFalse, "", degraded)
	case e.degraded != "" && (degraded.Status != metav1.ConditionTrue || degraded.Reason != e.degraded):
		return differs("Degraded", conditionTrue, e.degraded, degraded)
	case !inOrder(degraded.Message, e.messageParts):
		return fmt.Sprintf("expected Degraded to say %q, seen %q", strings.Join(e.messageParts, " … "), degraded.Message)
	case e.degraded == requiredMissing && isAvailable.Message != degraded.Message:
		return fmt.Sprintf("expected Available to say what Degraded says, seen %q", isAvailable.Message)
	}
	return ""
}

func differs(kind, status, reason string, seen metav1.Condition) string {
	expected := kind + "=" + status
	if reason != "" {
		expected += "/" + reason
	}
	if seen.Type == "" {
		return fmt.Sprintf("expected %s, seen no such condition", expected)
	}
	return fmt.Sprintf("expected %s, seen %s/%s: %s", expected, seen.Status, seen.Reason, seen.Message)
}

// inOrder reports whether text contains all parts, one after the other.
func inOrder(text string, parts []string) bool {
	for _, part := range parts {
		_, after, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = after
	}
	return true
}

// condition returns a condition of an add-on. It is empty if the condition is not set.
func condition(addOn *installed, name string) metav1.Condition {
	if c := meta.FindStatusCondition(addOn.Status.Conditions, name); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// mismatches describes each add-on that differs from its expectation.
func mismatches(expected []expectation, addOns map[types.NamespacedName]*installed) []string {
	var texts []string
	for _, e := range expected {
		if m := e.mismatch(addOns[e.key()]); m != "" {
			texts = append(texts, fmt.Sprintf("%s on %s: %s", e.addOn, e.cluster, m))
		}
	}
	return texts
}
