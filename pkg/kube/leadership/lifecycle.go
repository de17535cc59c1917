package leadership

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
)

// ErrNoLifecycle is the error of Lifecycle.Require if no component would open a gate or remove a finalizer.
var ErrNoLifecycle = errors.New("no addon-manager leads that runs with --lifecycle")

// RunsLifecycle reports whether the current leader runs with --lifecycle. The annotation has the name of the leader that set it, so that
// the annotation of a former leader does not count.
func RunsLifecycle(lease *coordinationv1.Lease, now time.Time) bool {
	leader := Leader(lease, now)
	return leader != "" && lease.Annotations[names.LifecycleLeader] == leader
}

// Lifecycle reads from the lease whether an addon-manager opens gates and removes finalizers.
type Lifecycle struct {
	// Live reads from the API server.
	Live  client.Reader
	Lease client.ObjectKey
	Clock clock.PassiveClock
}

// Require returns an error unless the current leader runs with --lifecycle.
func (l Lifecycle) Require(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	switch err := l.Live.Get(ctx, l.Lease, lease); {
	case apierrors.IsNotFound(err):
		return ErrNoLifecycle
	case err != nil:
		return fmt.Errorf("read the lease of addon-manager: %w", err)
	case !RunsLifecycle(lease, l.Clock.Now()):
		return ErrNoLifecycle
	}
	return nil
}
