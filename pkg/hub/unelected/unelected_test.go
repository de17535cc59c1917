package unelected

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
)

const namespace, name = "interlock-system", "interlock-addon-manager"

// bench is a hub with the lease for a holder.
type bench struct {
	hub   *fake.Clientset
	began chan struct{}
	ended chan error
	stop  context.CancelFunc
}

func start(t *testing.T, leases ...*coordinationv1.Lease) *bench {
	t.Helper()
	b := &bench{hub: fake.NewClientset(), began: make(chan struct{}, 100), ended: make(chan error, 1)}
	for _, lease := range leases {
		if _, err := b.hub.CoordinationV1().Leases(namespace).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	holder := newHolder(&resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Client: b.hub.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "tested"},
	}, leaderelection.LeaderElectionConfig{
		LeaseDuration: 500 * time.Millisecond, RenewDeadline: 300 * time.Millisecond, RetryPeriod: 20 * time.Millisecond,
	}, func(context.Context) { b.began <- struct{}{} })
	ctx, cancel := context.WithCancel(t.Context())
	b.stop = cancel
	t.Cleanup(cancel)
	go func() { b.ended <- holder.Start(ctx) }()
	return b
}

// heldBy returns the holder of the lease. It is empty if the lease is free.
func (b *bench) heldBy(t *testing.T) string {
	t.Helper()
	lease, err := b.hub.CoordinationV1().Leases(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

func (b *bench) await(t *testing.T, holder string) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return b.heldBy(t) == holder, nil
	}); err != nil {
		t.Fatalf("held by %q, not by %q", b.heldBy(t), holder)
	}
}

func leaseOf(holder string, seconds int32) *coordinationv1.Lease {
	now := metav1.NowMicro()
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{"kept": "by another"}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, AcquireTime: &now, RenewTime: &now, LeaseDurationSeconds: &seconds, LeaseTransitions: ptr.To[int32](3),
		},
	}
}

func TestHolder(t *testing.T) {
	for name, lease := range map[string][]*coordinationv1.Lease{
		"there is no lease": nil, "the lease is free": {leaseOf("", 1)}, "its holder has died": {leaseOf("other", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, lease...)
			<-b.began
			if holder := b.heldBy(t); holder != "tested" {
				t.Errorf("held by %q", holder)
			}
			b.stop()
			if err := <-b.ended; err != nil || b.heldBy(t) != "" {
				t.Errorf("%v; at the end, held by %q", err, b.heldBy(t))
			}
		})
	}
}

func TestHolderFightsNoOther(t *testing.T) {
	b := start(t, leaseOf("other", 3600))
	for range 10 { // each is a try
		previous := len(b.hub.Actions())
		if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
			return len(b.hub.Actions()) > previous, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, action := range b.hub.Actions()[1:] { // the first creates the lease
		if action.GetVerb() != "get" {
			t.Errorf("%s of the lease of another", action.GetVerb())
		}
	}
	b.stop()
	if err := <-b.ended; err != nil || b.heldBy(t) != "other" || len(b.began) > 0 {
		t.Errorf("%v; held by %q", err, b.heldBy(t))
	}
}

func TestHolderTakesTheLeaseAgain(t *testing.T) {
	b := start(t)
	<-b.began
	leases := b.hub.CoordinationV1().Leases(namespace)
	for range 10 { // this hub knows no conflicts, so a renewal that has begun may put the holder back
		if _, err := leases.Update(t.Context(), leaseOf("other", 1), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-b.began: // once the other one has not renewed it
			b.await(t, "tested")
			return
		case <-time.After(3 * time.Second):
		}
	}
	t.Error("it does not take the lease again")
}

func TestHolderWaitsUntilItMayCreateTheLease(t *testing.T) {
	hub := fake.NewClientset()
	var tries atomic.Int32
	hub.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		if tries.Add(1) == 1 {
			return true, nil, apierrors.NewNotFound(corev1.Resource("namespaces"), namespace)
		}
		return false, nil, nil
	})
	holder := newHolder(&resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Client: hub.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "tested"},
	}, timing, func(context.Context) {})
	if err := holder.create(t.Context()); !apierrors.IsNotFound(err) {
		t.Fatalf("in a namespace that does not exist: %v", err)
	}
	holder.prepare(t.Context())
	lease, err := hub.CoordinationV1().Leases(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || ptr.Deref(lease.Spec.HolderIdentity, "") != "" || ptr.Deref(lease.Spec.LeaseDurationSeconds, 0) != 15 {
		t.Errorf("%v, %v", lease, err)
	}
}
