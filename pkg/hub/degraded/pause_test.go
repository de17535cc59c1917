package degraded

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
)

// While the gate is closed, another message waits for its turn, and another status does not.
func TestMessagesOfAnAddOnThatWaits(t *testing.T) {
	earlier := metav1.Condition{
		Type: "Degraded", Status: metav1.ConditionTrue, Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
		Message: "Required addon 'other' is not installed or not available.",
	}
	for name, test := range map[string]struct {
		gate   string
		status metav1.ConditionStatus
		wait   time.Duration
	}{
		"Closed":        {addonv1alpha1.GateClosed, metav1.ConditionTrue, time.Second},
		"Open":          {addonv1alpha1.GateOpen, metav1.ConditionTrue, 0},
		"NoGate":        {"", metav1.ConditionTrue, 0},
		"AnotherStatus": {addonv1alpha1.GateClosed, metav1.ConditionFalse, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stored := earlier
			stored.Status = test.status
			waiting := addOn("leaf", stored)
			waiting.Annotations = map[string]string{addonv1alpha1.GateAnnotation: test.gate}
			b := newBench(t, waiting)
			b.Backoff.Wrote(leaf, stored)
			b.Messages = backoff.NewTurns(b.Clock, 1, 1)
			b.Messages.Wait(types.NamespacedName{Name: "another"}, time.Time{})
			result, err := b.reconcile(t)
			if err != nil || result.RequeueAfter != test.wait || (b.applies == 0) != (test.wait > 0) {
				t.Fatalf("%+v, %v, %d writes", result, err, b.applies)
			}
			b.Clock.(*clocktesting.FakeClock).Step(test.wait)
			if _, err := b.reconcile(t); err != nil || b.applies == 0 {
				t.Errorf("after the pause: %v, %d writes", err, b.applies)
			}
		})
	}
}
