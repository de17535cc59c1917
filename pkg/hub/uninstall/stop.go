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
	// holder is the holder of the lease during uninstallation. An uninstallation
	// that was interrupted leaves it held, and the next one takes it over.
	holder = "interlock-uninstall"
	// pollInterval is the time between two reads of the lease.
	pollInterval = time.Second
)

// stopper keeps addon-manager from writing during uninstallation. It scales the
// Deployment to 0 and then holds the lease of the leader election, so that a
// replica that is started meanwhile does not lead.
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

// takeLease waits until no replica leads and then takes the lease.
func (s *stopper) takeLease(ctx context.Context) error {
	var leader string
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
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

// tryLease takes the lease if it is free. If not, it returns the leader.
func (s *stopper) tryLease(ctx context.Context) (leader string, err error) {
	lease := &coordinationv1.Lease{}
	err = s.hub.Get(ctx, s.leaseKey(), lease)
	if apierrors.IsNotFound(err) {
		lease.Namespace, lease.Name = s.leaseKey().Namespace, s.leaseKey().Name
		s.fill(lease)
		err := s.hub.Create(ctx, lease)
		switch {
		case apierrors.IsAlreadyExists(err):
			return "another process", nil // the next read returns its name
		case apierrors.IsNotFound(err):
			return "", nil // the namespace does not exist
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
		return "another process", nil // it was first; the next read returns its name
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
		LeaseDurationSeconds: ptr.To(int32(s.options.Timeout / time.Second)), //nolint:gosec // minutes
		AcquireTime:          &now,
		RenewTime:            &now,
		LeaseTransitions:     lease.Spec.LeaseTransitions,
	}
}

// leaderOf returns the current leader by the lease, empty if there is none. A
// leader that stops releases the lease; one that died no longer renews it.
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

// release deletes the lease, which addon-manager created.
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
