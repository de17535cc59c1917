package uninstall

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/names"
)

// stopped is an uninstallation that has taken the lease.
func stopped(t *testing.T, objects ...client.Object) (*uninstallation, *clocktesting.FakeClock) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), addonv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	u := uninstallationOf(fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&addonv1alpha1.ManagedClusterAddOn{}).
		WithObjects(objects...).Build())
	now := clocktesting.NewFakeClock(time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC))
	u.clock = now
	if _, err := u.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	return u, now
}

// An admission that has found a leader stores its add-on after the lease is taken.
func TestAnAdmissionThatHasBegunLeavesNothing(t *testing.T) {
	u, now := stopped(t)
	ended := make(chan error)
	go func() {
		_, err := u.removeFinalizers(t.Context())
		ended <- err
	}()
	for !now.HasWaiters() {
		select {
		case err := <-ended:
			t.Fatalf("did not wait: %v", err)
		default:
		}
	}
	late := withGate("late", "closed", "Installable WaitingForDependencies")
	late.Finalizers = []string{addonv1alpha1.WaitForDependentsFinalizer}
	if err := u.hub.Create(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	now.Step(admissionsWithin)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := u.removeGates(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := u.hub.Get(t.Context(), client.ObjectKeyFromObject(late), late); err != nil || len(late.Finalizers) > 0 ||
		len(late.Annotations) != 1 {
		t.Errorf("left: %v %v, %v", late.Finalizers, late.Annotations, err)
	}
}

func TestNoAdmissionFindsALeaderOnceTheLeaseIsTaken(t *testing.T) {
	u, now := stopped(t)
	lifecycle := leadership.Lifecycle{Live: u.hub, Lease: u.leaseKey(), Clock: now}
	if err := lifecycle.Require(t.Context()); !errors.Is(err, leadership.ErrNoLifecycle) {
		t.Errorf("got %v", err)
	}
	lease := &coordinationv1.Lease{}
	if err := u.hub.Get(t.Context(), u.leaseKey(), lease); err != nil || *lease.Spec.HolderIdentity != holder ||
		lease.Name != names.AddonManager {
		t.Errorf("got %v, %v", lease, err)
	}
}

func TestTheWaitForAdmissionsEndsWithTheTimeout(t *testing.T) {
	u, _ := stopped(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.removeFinalizers(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
