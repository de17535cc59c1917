package degraded

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
)

// The gate is opened before Degraded says that nothing Required fails, unless that takes too long.
func TestDegradedFollowsTheGate(t *testing.T) {
	failed := metav1.Condition{
		Type: "Degraded", Status: metav1.ConditionTrue, Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
		Message: "Required addon 'base' is not installed or not available.",
	}
	waits := metav1.Condition{Type: gate.ConditionInstallable, Status: metav1.ConditionFalse, Reason: gate.ReasonWaiting}
	available := metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Fine"}
	waiting := addOn("leaf", failed, waits)
	waiting.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	b := newBench(t, waiting, addOn("base", available))
	for range 2 {
		result, err := b.reconcile(t)
		if err != nil || result.RequeueAfter == 0 || b.applies > 0 {
			t.Fatalf("%+v, %v, %d writes", result, err, b.applies)
		}
		b.Clock.(*clocktesting.FakeClock).Step(result.RequeueAfter / 2)
	}
	b.Clock.(*clocktesting.FakeClock).Step(opensWithin)
	if _, err := b.reconcile(t); err != nil || b.applies != 1 {
		t.Errorf("after a while: %v, %d writes", err, b.applies)
	}
	b.forget(leaf)
	if len(b.opening.since) > 0 {
		t.Errorf("remembers %v", b.opening.since)
	}
}
