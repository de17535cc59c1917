// Package unelected holds the lease of addon-manager's leader election for a process that runs without the election. Other components
// read that lease to find out whether an addon-manager runs.
package unelected

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/kube/leadership"
)

// timing has the defaults of controller-runtime's leader election.
var timing = leaderelection.LeaderElectionConfig{LeaseDuration: 15 * time.Second, RenewDeadline: leadership.RenewDeadline, RetryPeriod: 2 * time.Second}

// Holder holds the lease while no other process does. It acquires a lease that is free or expired, and releases it when it stops. The
// process runs on without the lease.
type Holder struct {
	config leaderelection.LeaderElectionConfig
}

// New returns a holder. It calls held each time it acquires the lease, with a context that ends when the lease is lost.
func New(config *rest.Config, lease types.NamespacedName, held func(context.Context)) (*Holder, error) {
	lock, err := leadership.NewLock(config, lease)
	if err != nil {
		return nil, err
	}
	return newHolder(lock, timing, held), nil
}

func newHolder(lock resourcelock.Interface, config leaderelection.LeaderElectionConfig, held func(context.Context)) *Holder {
	config.Lock, config.Name, config.ReleaseOnCancel = lock, lock.Describe(), true
	config.Callbacks = leaderelection.LeaderCallbacks{OnStartedLeading: held, OnStoppedLeading: func() {}}
	return &Holder{config}
}

// Start implements manager.Runnable.
func (h *Holder) Start(ctx context.Context) error {
	h.prepare(ctx)
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(h.config)
		if err != nil {
			return fmt.Errorf("hold the lease %s: %w", h.config.Name, err)
		}
		elector.Run(ctx) // until the lease is lost
	}
	return nil
}

// prepare creates a free lease if there is none. Where that is not possible, because the namespace or the right is missing, an elector
// would log an error every few seconds. prepare logs it once.
func (h *Holder) prepare(ctx context.Context) {
	retry, lastMessage := wait.Backoff{
		Duration: 2 * time.Second,
		Factor:   2,
		Steps:    1000,
		Cap:      time.Minute,
	}, ""
	// The error is ignored: it only says that the context has ended.
	_ = retry.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := h.create(ctx)
		if err != nil && ctx.Err() == nil && lastMessage != err.Error() {
			lastMessage = err.Error()
			log.FromContext(ctx).Error(err, "Could not hold the lease of addon-manager; until then, admission closes no gate and sets no finalizer",
				"lease", h.config.Name)
		}
		return err == nil, nil
	})
}

func (h *Holder) create(ctx context.Context) error {
	_, _, err := h.config.Lock.Get(ctx)
	if !apierrors.IsNotFound(err) {
		return err
	}
	free := resourcelock.LeaderElectionRecord{LeaseDurationSeconds: max(1, int(h.config.LeaseDuration.Seconds()))}
	if err := h.config.Lock.Create(ctx, free); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
