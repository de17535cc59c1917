package ownlease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/availability"
)

const patience = 10 * time.Second

var started = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// hub responds, although it does not have the agent's add-on.
type hub struct {
	client.Reader
	fails atomic.Bool
	reads atomic.Int32
	read  atomic.Pointer[client.ObjectKey]
}

func (h *hub) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	h.read.Store(&key)
	fails := h.fails.Load()
	h.reads.Add(1)
	if fails {
		return errors.New("no route to host")
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func eventually(t *testing.T, event string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("%s: not within %s", event, patience)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestRenewalIntervals(t *testing.T) {
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
	synced := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	hub := &hub{}
	renewer := &Renewer{
		Clock: clock, Leases: leases.CoordinationV1(), Lease: types.NamespacedName{Namespace: "here", Name: "agent"}, Synced: synced,
		Hub: hub, Cluster: "cluster1",
	}
	go func() { ended <- renewer.Start(ctx) }()

	renewed := func() time.Time {
		lease, err := leases.CoordinationV1().Leases("here").Get(t.Context(), "agent", metav1.GetOptions{})
		if err != nil || lease.Spec.RenewTime == nil {
			return time.Time{}
		}
		return lease.Spec.RenewTime.Time
	}
	// pass steps the clock as soon as the renewer waits for it.
	pass := func(d time.Duration) {
		eventually(t, "it waits", clock.HasWaiters)
		clock.Step(d)
	}

	if attempts.Load() != 0 {
		t.Error("renewed before the hub's add-ons were read")
	}
	close(synced)
	eventually(t, "first renewal", func() bool { return renewed().Equal(started) })
	pass(interval)
	eventually(t, "second renewal", func() bool { return renewed().Equal(started.Add(interval)) })
	failing.Store(1)
	pass(interval)
	eventually(t, "a failure", func() bool { return attempts.Load() == 3 })
	failing.Store(0)
	pass(retryInterval)
	eventually(t, "a renewal soon after the failure", func() bool { return renewed().Equal(started.Add(2*interval + retryInterval)) })

	last := started.Add(2*interval + retryInterval)
	hub.fails.Store(true)
	for wait := interval; clock.Since(last) < availability.DefaultGracePeriod; wait = retryInterval {
		if renewer.Check(nil) != nil {
			t.Errorf("expired %s after the last renewal", clock.Since(last))
		}
		reads := hub.reads.Load()
		pass(wait)
		eventually(t, "another attempt", func() bool { return hub.reads.Load() > reads })
	}
	if renewer.Check(nil) == nil || !renewed().Equal(last) || attempts.Load() != 4 {
		t.Errorf("without the hub: ready %v, renewed at %s after %d attempts", renewer.Check(nil), renewed(), attempts.Load())
	}
	hub.fails.Store(false)
	pass(retryInterval)
	eventually(t, "a renewal when the hub responds", func() bool { return renewed().Equal(clock.Now()) && renewer.Check(nil) == nil })
	if want := (client.ObjectKey{Namespace: "cluster1", Name: "agent"}); *hub.read.Load() != want {
		t.Errorf("read %s on the hub, want %s", hub.read.Load(), want)
	}

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
