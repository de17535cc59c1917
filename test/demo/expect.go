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

// expectation is what is expected of one add-on on one cluster.
type expectation struct {
	cluster, addOn string
	deleted        bool
	available      string
	// reason of Available; empty: any.
	reason string
	// degraded is the reason of Degraded=True; empty: it is not degraded.
	degraded string
	// says are parts of Degraded's message, in this order.
	says []string
}

// available: it works, with everything that it needs.
func available(cluster, addOn string) expectation {
	return expectation{cluster: cluster, addOn: addOn, available: conditionTrue}
}

// reduced: it works, with less.
//
//nolint:unparam // all expectations read alike: a cluster, an add-on, what it says
func reduced(cluster, addOn string, says ...string) expectation {
	return expectation{cluster: cluster, addOn: addOn, available: conditionTrue, degraded: optionalMissing, says: says}
}

// blocked: it cannot work without what it requires.
func blocked(cluster, addOn string, says ...string) expectation {
	return expectation{
		cluster: cluster, addOn: addOn, available: conditionFalse, reason: requiredMissing,
		degraded: requiredMissing, says: says,
	}
}

// dead: its own agent has stopped renewing its lease.
func dead(cluster, addOn string) expectation {
	return expectation{cluster: cluster, addOn: addOn, available: conditionFalse, reason: leaseStopped}
}

// gone: it is not on the cluster any more.
func gone(cluster, addOn string) expectation {
	return expectation{cluster: cluster, addOn: addOn, deleted: true}
}

func (e expectation) key() types.NamespacedName { return key(e.cluster, e.addOn) }

// mismatch says in what an add-on (nil: not installed) is not as expected.
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
	case !inOrder(degraded.Message, e.says):
		return fmt.Sprintf("expected Degraded to say %q, seen %q", strings.Join(e.says, " … "), degraded.Message)
	case e.degraded == requiredMissing && isAvailable.Message != degraded.Message:
		return fmt.Sprintf("expected Available to say what Degraded says, seen %q", isAvailable.Message)
	}
	return ""
}

func differs(what, status, reason string, seen metav1.Condition) string {
	expected := what + "=" + status
	if reason != "" {
		expected += "/" + reason
	}
	if seen.Type == "" {
		return fmt.Sprintf("expected %s, seen no such condition", expected)
	}
	return fmt.Sprintf("expected %s, seen %s/%s: %s", expected, seen.Status, seen.Reason, seen.Message)
}

// inOrder reports whether text has all parts, one after the other.
func inOrder(text string, parts []string) bool {
	for _, part := range parts {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

// condition returns a condition of an add-on, the zero value where it has none.
func condition(addOn *installed, name string) metav1.Condition {
	if c := meta.FindStatusCondition(addOn.Status.Conditions, name); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// mismatches says for each add-on that is not as expected in what.
func mismatches(expected []expectation, addOns map[types.NamespacedName]*installed) []string {
	var all []string
	for _, e := range expected {
		if m := e.mismatch(addOns[e.key()]); m != "" {
			all = append(all, fmt.Sprintf("%s on %s: %s", e.addOn, e.cluster, m))
		}
	}
	return all
}
