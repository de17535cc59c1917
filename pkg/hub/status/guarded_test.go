package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/triggertest"
)

// failingWith returns the add-on with Degraded as addon-manager wrote it for a missing
// dependency, beside an Available of another writer.
func failingWith(t *testing.T, available metav1.Condition) *addonv1alpha1.ManagedClusterAddOn {
	t.Helper()
	b := newBench(t, addOn("leaf"))
	desired := condition.Decide(condition.Stored{}, b.findings(t), metav1.NewTime(aTime)).Degraded
	return addOn("leaf", *desired, available)
}

func TestDegradedIsWrittenAgainForAGuardThatCameLater(t *testing.T) {
	running := conditionOf(availability.ConditionAvailable, metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated")
	lost := conditionOf(availability.ConditionAvailable, metav1.ConditionUnknown, availability.ReasonClusterLost)
	followed := conditionOf(availability.ConditionAvailable, metav1.ConditionFalse, availability.ReasonRequiredDependencyNotSatisfied)
	followed.Message = fleet.Degraded(failingWith(t, running)).Message
	later, stuckLater := reconcile.Result{RequeueAfter: guardedAgain}, reconcile.Result{RequeueAfter: StuckAfter}
	for name, test := range map[string]struct {
		available metav1.Condition
		inForce   bool
		applies   int
		want      reconcile.Result
	}{
		"Available does not follow":        {running, true, 1, later},
		"no guard is in force":             {running, false, 0, stuckLater},
		"Available follows":                {followed, true, 0, stuckLater},
		"the hub reports the cluster lost": {lost, true, 0, stuckLater},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, failingWith(t, test.available))
			b.Guarded = &Guarded{Fleet: b.Assessor.Fleet, Evaluate: b.Evaluate}
			if err := b.Guarded.Observe(t.Context(), test.inForce); err != nil {
				t.Fatal(err)
			}
			if got, err := b.reconcile(t); err != nil || got != test.want || b.applies != test.applies {
				t.Errorf("%+v, error %v, %d writes", got, err, b.applies)
			}
			if test.applies > 0 {
				b.expectWrites(t, `{addon="leaf",reason="RequiredDependencyNotSatisfied",result="success"} 1`)
			} else {
				b.expectWrites(t)
			}
			if emitted := b.emitted(); len(emitted) > 0 {
				t.Errorf("events %q", emitted)
			}
		})
	}
}

func TestAGuardThatComesIntoForceEnqueuesOnlyWhatItMissed(t *testing.T) {
	running := conditionOf(availability.ConditionAvailable, metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated")
	b := newBench(t, failingWith(t, running), addOn("other", running))
	enqueued := triggertest.Enqueued(t, b.Evaluate)
	b.Guarded = &Guarded{Fleet: b.Assessor.Fleet, Evaluate: b.Evaluate}
	for _, step := range []struct {
		inForce bool
		want    []string
	}{{false, []string{}}, {true, []string{leaf.String()}}} {
		err := b.Guarded.Observe(t.Context(), step.inForce)
		if diff := cmp.Diff(step.want, enqueued()); err != nil || diff != "" {
			t.Errorf("in force %t: error %v\n%s", step.inForce, err, diff)
		}
	}
}
