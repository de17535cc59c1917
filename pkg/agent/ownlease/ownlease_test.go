package ownlease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const patience = 10 * time.Second

var started = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// addOns is a cache that has nothing but the state of its informer.
type addOns struct {
	cache.Informers
	cache.Informer
	synced atomic.Bool
}

func (a *addOns) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return a, nil
}
func (a *addOns) HasSynced() bool { return a.synced.Load() }

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("%s: not within %s", what, patience)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestTheLeaseIsRenewedEveryMinuteAndSoonerAfterAFailure(t *testing.T) {
	clock := clocktesting.NewFakeClock(started)
	leases := fake.NewClientset()
	var attempts, failing atomic.Int32
	leases.PrependReactor("patch", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		attempts.Add(1)
		if failing.Load() > 0 {
			return true, &coordinationv1.Lease{}, errors.New("down")
		}
		return false, nil, nil
	})
	watched := &addOns{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	renewer := &Renewer{Clock: clock, Leases: leases.CoordinationV1(), Lease: types.NamespacedName{Namespace: "here", Name: "agent"}, AddOns: watched}
	go func() { ended <- renewer.Start(ctx) }()

	renewed := func() time.Time {
		lease, err := leases.CoordinationV1().Leases("here").Get(t.Context(), "agent", metav1.GetOptions{})
		if err != nil || lease.Spec.RenewTime == nil {
			return time.Time{}
		}
		return lease.Spec.RenewTime.Time
	}
	// pass lets the time pass when the renewer waits for it.
	pass := func(d time.Duration) {
		eventually(t, "it waits", clock.HasWaiters)
		clock.Step(d)
	}

	if attempts.Load() != 0 {
		t.Error("renewed before the hub's add-ons were read")
	}
	watched.synced.Store(true)
	eventually(t, "first renewal", func() bool { return renewed().Equal(started) })
	pass(interval)
	eventually(t, "second renewal", func() bool { return renewed().Equal(started.Add(interval)) })
	failing.Store(1)
	pass(interval)
	eventually(t, "a failure", func() bool { return attempts.Load() == 3 })
	failing.Store(0)
	pass(retryInterval)
	eventually(t, "a renewal soon after the failure", func() bool { return renewed().Equal(started.Add(2*interval + retryInterval)) })

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
