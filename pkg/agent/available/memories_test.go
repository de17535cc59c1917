package available

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

// afterBackoff is longer than the longest backoff.
const afterBackoff = time.Minute

// observe puts an add-on with these conditions into the agent's cache.
func (f *fixture) observe(t *testing.T, changes ...func(*addonv1alpha1.ManagedClusterAddOn)) {
	t.Helper()
	stored := &addonv1alpha1.ManagedClusterAddOn{}
	if err := f.hub.Get(t.Context(), key, stored); err != nil {
		t.Fatal(err)
	}
	stored.Status.Conditions = nil
	for _, change := range changes {
		change(stored)
	}
	if err := f.hub.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
}

func TestFindingIsAssertedOnce(t *testing.T) {
	fails := withCondition("Degraded", "True", "RequiredDependencyNotSatisfied")
	missing := withCondition("Available", "Unknown", "ManagedClusterAddOnLeaseNotFound")
	f := newFixture(t, proxy(missing, fails))
	reconcileUntil := func(situation string, writes int) {
		t.Helper()
		if _, err := f.reconcile(t); err != nil {
			t.Fatal(err)
		}
		if len(f.applied) != writes {
			t.Fatalf("%s: wrote %d times, want %d", situation, len(f.applied), writes)
		}
	}
	f.applyError = errors.New("connection refused")
	if _, err := f.reconcile(t); !errors.Is(err, f.applyError) {
		t.Fatalf("got error %v", err)
	}
	f.applyError = apierrors.NewConflict(group, "proxy", nil)
	reconcileUntil("a write that failed is repeated", 2)
	f.applyError = nil
	reconcileUntil("so is a conflict", 3)
	reconcileUntil("another writer has replaced it", 3)
	f.observe(t, withCondition("Available", "False", "ManagedClusterAddOnLeaseUpdateStopped"), fails)
	reconcileUntil("by False, too", 3)

	f.observe(t, withCondition("Available", "True", "ManagedClusterAddOnLeaseUpdated"), fails)
	reconcileUntil("by True", 4)

	f.observe(t, missing, withCondition("Degraded", "False", "DependenciesSatisfied"))
	f.leases.observed.State = availability.LeaseNotFound
	reconcileUntil("the dependency is satisfied", 4)
	f.observe(t, missing, fails)
	f.clock.Step(afterBackoff)
	reconcileUntil("it fails again", 5)

	f.getError = apierrors.NewNotFound(group, "proxy")
	reconcileUntil("deleted", 5)
	f.getError = nil
	f.clock.Step(afterBackoff)
	reconcileUntil("made anew", 6)
}

func TestStoredConditionCountsAsAsserted(t *testing.T) {
	fails := withCondition("Degraded", "True", "RequiredDependencyNotSatisfied")
	f := newFixture(t, proxy(withCondition("Available", "False", "RequiredDependencyNotSatisfied"), fails))
	for _, replaced := range []metav1.ConditionStatus{"False", "Unknown"} {
		if result, err := f.reconcile(t); err != nil || result != (reconcile.Result{}) || len(f.applied) != 0 {
			t.Fatalf("%+v, error %v, wrote %v", result, err, f.applied)
		}
		f.observe(t, withCondition("Available", replaced, "Other"), fails)
	}
}

func TestHealthCheckIsAwaitedForTheGracePeriod(t *testing.T) {
	customized := func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		addOn.Status.HealthCheck.Mode = ocmv1alpha1.HealthCheckModeCustomized
	}
	satisfied := withCondition("Degraded", "False", "DependenciesSatisfied")
	f := newFixture(t, proxy(customized, withCondition("Available", "False", "RequiredDependencyNotSatisfied"), satisfied))
	reconcileAt := func(elapsed, delay time.Duration, writes, events int) {
		t.Helper()
		f.clock.SetTime(start.Add(elapsed))
		result, err := f.reconcile(t)
		if err != nil || result.RequeueAfter != delay {
			t.Fatalf("after %s: error %v, requeued after %s, want %s", elapsed, err, result.RequeueAfter, delay)
		}
		if len(f.applied) != writes || len(f.emitted) != events {
			t.Fatalf("after %s: wrote %v, events %q, want %d and %d", elapsed, f.applied, f.emitted, writes, events)
		}
	}
	reconcileAt(0, grace, 1, 0)
	f.observe(t, withCondition("Available", "False", "AwaitingHealthCheck"), func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		addOn.Status.Conditions[0].Message = "The dependencies of proxy add-on are satisfied again; waiting for the add-on's own health check."
	}, satisfied)
	reconcileAt(time.Minute, grace-time.Minute, 1, 0)
	reconcileAt(grace, 0, 2, 1)
}
