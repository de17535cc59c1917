package uninstall

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// deploymentName and leaseName are those of addon-manager, in deploy/hub.
	deploymentName = "interlock-addon-manager"
	leaseName      = "interlock-addon-manager"
	// holder is who holds the lease while things are taken back. A try that was
	// cut short leaves it held, and the next one takes it over.
	holder = "interlock-uninstall"
	// paceOfWaiting is the time between two looks at the lease.
	paceOfWaiting = time.Second
)

// stopper sees to it that no addon-manager writes meanwhile: it scales the
// Deployment down and then holds the lease by which replicas elect their
// leader, so that one that somebody starts again waits for its turn.
type stopper struct {
	clock   clock.PassiveClock
	hub     client.Client
	options Options
	held    bool
}

func (s *stopper) run(ctx context.Context) (string, error) {
	scaled, err := s.scaleDown(ctx)
	if err != nil {
		return "", err
	}
	if err := s.takeLease(ctx); err != nil {
		return "", err
	}
	return scaled + ", and no other leads", nil
}

func (s *stopper) scaleDown(ctx context.Context) (string, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.options.Namespace, Name: deploymentName}}
	name := client.ObjectKeyFromObject(deployment).String()
	err := s.hub.SubResource("scale").Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`)))
	if apierrors.IsNotFound(err) {
		return "there is no Deployment " + name, nil
	}
	if err != nil {
		return "", fmt.Errorf("scale Deployment %s to 0: %w", name, err)
	}
	return "Deployment " + name + " has 0 replicas", nil
}

// takeLease waits until nobody leads and then takes the lease.
func (s *stopper) takeLease(ctx context.Context) error {
	var leader string
	err := wait.PollUntilContextCancel(ctx, paceOfWaiting, true, func(ctx context.Context) (bool, error) {
		var err error
		leader, err = s.tryLease(ctx)
		return err == nil && leader == "", err
	})
	if err != nil && leader != "" {
		return fmt.Errorf("%s still leads by the lease %s: stop it and run this again: %w", leader, s.leaseKey(), err)
	}
	if err != nil {
		return fmt.Errorf("take the lease %s: %w", s.leaseKey(), err)
	}
	return nil
}

// tryLease takes the lease if it is free, and returns who leads if it is not.
func (s *stopper) tryLease(ctx context.Context) (leader string, err error) {
	lease := &coordinationv1.Lease{}
	err = s.hub.Get(ctx, s.leaseKey(), lease)
	if apierrors.IsNotFound(err) {
		lease.Namespace, lease.Name = s.leaseKey().Namespace, s.leaseKey().Name
		s.fill(lease)
		err := s.hub.Create(ctx, lease)
		switch {
		case apierrors.IsAlreadyExists(err):
			return "somebody else", nil // the next look tells its name
		case apierrors.IsNotFound(err):
			return "", nil // not even the namespace is there
		}
		s.held = err == nil
		return "", err
	}
	if err != nil {
		return "", err
	}
	if current := leaderOf(lease, s.clock.Now()); current != "" {
		return current, nil
	}
	s.fill(lease)
	if err := s.hub.Update(ctx, lease); apierrors.IsConflict(err) {
		return "somebody else", nil // it was faster; the next look tells its name
	} else if err != nil {
		return "", err
	}
	s.held = true
	return "", nil
}

func (s *stopper) fill(lease *coordinationv1.Lease) {
	now := metav1.NewMicroTime(s.clock.Now())
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity:       ptr.To(holder),
		LeaseDurationSeconds: ptr.To(int32(s.options.Timeout / time.Second)),
		AcquireTime:          &now,
		RenewTime:            &now,
		LeaseTransitions:     lease.Spec.LeaseTransitions,
	}
}

// leaderOf is who leads by the lease now, or nothing. A leader that has stopped
// gives it back; one that died renews it no more.
func leaderOf(lease *coordinationv1.Lease, now time.Time) string {
	identity := ptr.Deref(lease.Spec.HolderIdentity, "")
	if identity == "" || strings.HasPrefix(identity, holder) || lease.Spec.RenewTime == nil {
		return ""
	}
	expires := lease.Spec.RenewTime.Add(time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second)
	if !now.Before(expires) {
		return ""
	}
	return identity
}

// release deletes the lease, which was addon-manager's before.
func (s *stopper) release(ctx context.Context) (string, error) {
	if !s.held {
		return "was not taken", nil
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: s.leaseKey().Namespace, Name: s.leaseKey().Name}}
	if err := client.IgnoreNotFound(s.hub.Delete(ctx, lease)); err != nil {
		return "", fmt.Errorf("delete lease %s: %w", s.leaseKey(), err)
	}
	return "deleted", nil
}

func (s *stopper) leaseKey() types.NamespacedName {
	return types.NamespacedName{Namespace: s.options.LeaseNamespace, Name: leaseName}
}
