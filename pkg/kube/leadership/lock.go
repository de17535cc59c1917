package leadership

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
)

// ErrReplaced is the error of Election.Confirm if another process leads.
var ErrReplaced = errors.New("another process leads")

// RenewDeadline is the time in which a leader has to renew its lease. It is the default of controller-runtime.
const RenewDeadline = 10 * time.Second

// NewLock returns the lock by which this process takes part in the leader election. Its identity is unique. The timeout of its requests is
// half of RenewDeadline, so that one request that hangs does not lose the lease.
func NewLock(config *rest.Config, lease types.NamespacedName) (*resourcelock.LeaseLock, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name the holder of lease %s: %w", lease, err)
	}
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election") // AddUserAgent changes its argument, and watches must have no timeout
	config.Timeout = RenewDeadline / 2
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create client for lease %s: %w", lease, err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: lease.Namespace, Name: lease.Name},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())},
	}, nil
}

// Election is the part of this process in the leader election.
type Election struct {
	Leases coordinationv1client.LeasesGetter
	Lease  types.NamespacedName
	// Identity is the name of this process as the holder of the lease. It is empty without leader election.
	Identity string
}

// ElectionBy returns the part of this process in the leader election by a lock.
func ElectionBy(lock *resourcelock.LeaseLock) Election {
	return Election{
		Leases:   lock.Client,
		Lease:    types.NamespacedName{Namespace: lock.LeaseMeta.Namespace, Name: lock.LeaseMeta.Name},
		Identity: lock.Identity(),
	}
}

// Confirm returns ErrReplaced if another process holds the lease. A process that was suspended notices only some seconds later that it leads
// no more.
func (e Election) Confirm(ctx context.Context) error {
	if e.Identity == "" {
		return nil
	}
	lease, err := e.Leases.Leases(e.Lease.Namespace).Get(ctx, e.Lease.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return ErrReplaced
	case err != nil:
		return fmt.Errorf("read the lease of addon-manager: %w", err)
	case ptr.Deref(lease.Spec.HolderIdentity, "") != e.Identity:
		return ErrReplaced
	}
	return nil
}
