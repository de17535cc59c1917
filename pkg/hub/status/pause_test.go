package status

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"golang.org/x/time/rate"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
)

// While the gate is closed, another message waits for the rate limit, and another status does not.
func TestMessagesOfAnAddOnThatWaits(t *testing.T) {
	earlier := metav1.Condition{
		Type: "Degraded", Status: metav1.ConditionTrue, Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
		Message: "Required addon 'other' is not installed or not available.",
	}
	for name, test := range map[string]struct {
		gate   string
		status metav1.ConditionStatus
		waits  bool
	}{
		"Closed":        {addonv1alpha1.GateClosed, metav1.ConditionTrue, true},
		"Open":          {addonv1alpha1.GateOpen, metav1.ConditionTrue, false},
		"NoGate":        {"", metav1.ConditionTrue, false},
		"AnotherStatus": {addonv1alpha1.GateClosed, metav1.ConditionFalse, false},
	} {
		t.Run(name, func(t *testing.T) {
			stored := earlier
			stored.Status = test.status
			leafAddOn := addOn("leaf", stored)
			leafAddOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: test.gate}
			b := newBench(t, leafAddOn)
			b.Backoff.Wrote(leaf, backoff.Condition(stored))
			b.Messages = rate.NewLimiter(0, 0)
			b.Clock.(*clocktesting.FakeClock).Step(time.Millisecond)
			result, err := b.reconcile(t)
			if err != nil || (b.applies == 0) != test.waits || test.waits != (result.RequeueAfter >= messagesAgain) {
				t.Fatalf("%v, %d writes, again after %s", err, b.applies, result.RequeueAfter)
			}
			b.Messages = rate.NewLimiter(1, 1)
			if _, err := b.reconcile(t); err != nil || b.applies == 0 {
				t.Errorf("within the rate: %v, %d writes", err, b.applies)
			}
		})
	}
}
