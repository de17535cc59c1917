package uninstall

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	// holder is the holder of the lease during uninstallation. An interrupted uninstallation leaves the lease held, and the
	// next one takes it over.
	holder = leadership.Uninstalling
	// pollInterval is the time between two reads of the lease.
	pollInterval = time.Second
	// admissionsWithin is the maximum duration of an admission that read the lease before it was taken. It is a second for
	// the webhook that closes gates, and two seconds for the webhooks that are called after it.
	admissionsWithin = 3 * time.Second
)

// stop keeps addon-manager from writing during uninstallation. It scales the
// Deployment to 0 and then holds the lease of the leader election, so that a
// replica that is started meanwhile does not lead.
func (u *uninstallation) stop(ctx context.Context) (string, error) {
	scaled, err := u.scaleDown(ctx)
	if err != nil {
		return "", err
	}
	if err := u.takeLease(ctx); err != nil {
		return "", err
	}
	u.unled = u.clock.Now()
	return scaled + ", and no other leads", nil
}

// awaitAdmissions waits for the end of admissions that have found a leader. Until then, gates are closed and finalizers
// are set.
func (u *uninstallation) awaitAdmissions(ctx context.Context) error {
	if u.unled.IsZero() {
		return nil
	}
	remaining := admissionsWithin - u.clock.Since(u.unled)
	if remaining <= 0 {
		return nil
	}
	select {
	case <-u.clock.After(remaining):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for admissions that have begun: %w", ctx.Err())
	}
}

func (u *uninstallation) scaleDown(ctx context.Context) (string, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: u.options.Namespace, Name: names.AddonManager}}
	name := client.ObjectKeyFromObject(deployment).String()
	err := u.hub.SubResource("scale").Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`)))
	if apierrors.IsNotFound(err) {
		return "there is no Deployment " + name, nil
	}
	if err != nil {
		return "", fmt.Errorf("scale Deployment %s to 0: %w", name, err)
	}
	return "Deployment " + name + " has 0 replicas", nil
}

// takeLease waits until no replica leads and then takes the lease.
func (u *uninstallation) takeLease(ctx context.Context) error {
	var leader string
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		var err error
		leader, err = u.tryLease(ctx)
		return err == nil && leader == "", err
	})
	if err != nil && leader != "" {
		return fmt.Errorf("%s still leads by the lease %s: stop it and run this again: %w", leader, u.leaseKey(), err)
	}
	if err != nil {
		return fmt.Errorf("take the lease %s: %w", u.leaseKey(), err)
	}
	return nil
}

// tryLease takes the lease if it is free. If not, it returns the leader.
func (u *uninstallation) tryLease(ctx context.Context) (string, error) {
	var leader string
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: u.leaseKey().Namespace, Name: u.leaseKey().Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, u.hub, lease, func() error {
		if leader = leadership.Leader(lease, u.clock.Now()); leader == "" {
			u.fill(lease)
		}
		return nil
	})
	switch {
	case apierrors.IsAlreadyExists(err), apierrors.IsConflict(err):
		return "another process", nil // it was first; the next read returns its name
	case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return "", nil // without a namespace, no replica can lead
	case err != nil:
		return "", err
	}
	u.leaseHeld = leader == ""
	return leader, nil
}

func (u *uninstallation) fill(lease *coordinationv1.Lease) {
	now := metav1.NewMicroTime(u.clock.Now())
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity:       ptr.To(holder),
		LeaseDurationSeconds: ptr.To(int32(u.options.Timeout / time.Second)), //nolint:gosec // minutes
		AcquireTime:          &now,
		RenewTime:            &now,
		LeaseTransitions:     lease.Spec.LeaseTransitions,
	}
}

// releaseWithin bounds the deletion of the lease, which begins even after the time for all steps is over.
const releaseWithin = 10 * time.Second

// releaseLease deletes the lease, which addon-manager created. Otherwise, the lease would keep a new addon-manager from
// leading until it expires.
func (u *uninstallation) releaseLease(ctx context.Context) (string, error) {
	if !u.leaseHeld {
		return "was not taken", nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: u.leaseKey().Namespace, Name: u.leaseKey().Name}}
	if err := client.IgnoreNotFound(u.hub.Delete(ctx, lease)); err != nil {
		return "", fmt.Errorf("delete lease %s: %w", u.leaseKey(), err)
	}
	return "deleted", nil
}

func (u *uninstallation) leaseKey() types.NamespacedName {
	return types.NamespacedName{Namespace: u.options.LeaseNamespace, Name: names.AddonManager}
}
