package installation

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/triggertest"
)

// What an installation waits for is known once it is planned, and the dependents are evaluated when it changes.
func TestWhatInstallationsWaitFor(t *testing.T) {
	b := newBench(t, listed, false, 50)
	b.Inputs.Installations.Complete()
	enqueued := triggertest.Enqueued(t, b.Evaluate)
	base := types.NamespacedName{Namespace: "cluster000", Name: "base"}
	want := func(when string, wait evaluation.Wait, evaluated int) {
		t.Helper()
		got := b.Inputs.Installations.Wait(base)
		if keys := enqueued(); got != wait || len(keys) != evaluated {
			t.Errorf("%s: waits for %q, evaluated: %v", when, got, keys)
		}
	}
	want("before the first plan", evaluation.WaitUnknown, 0)
	b.later(t, 0)
	want("50 of 50 clusters are too many", evaluation.WaitForApproval, 50)
	b.later(t, time.Minute)
	want("nothing has changed", evaluation.WaitForApproval, 0)

	b.declare(t, listed, true) // approved
	b.later(t, time.Minute)
	want("it was approved", evaluation.WaitForInterlock, 50)
}
