package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/agent/ownlease"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var (
	errNotSynced = errors.New("the cache of the hub's add-ons has not synced yet")
	errExpired   = errors.New("the agent's own lease has expired: the hub does not respond, or the lease cannot be written; the log has the cause")
)

// logInterval is how often the log says that the hub does not respond. client-go does
// not log an API server that refuses connections.
const logInterval = 15 * time.Second

// setupProbes: addon-agent is alive while the process responds, also when the hub is
// lost: a restart would only lose the cache. It is ready once the cache of the hub's
// add-ons has synced, until its own lease expires. OCM sets Available of an add-on from
// an AddOnTemplate by its ready pods, not by its lease. ownLease is nil for none.
func setupProbes(mgr ctrl.Manager, ownLease *ownlease.Renewer) error {
	readiness := &readiness{cache: mgr.GetCache(), clock: clock.RealClock{}, hub: mgr.GetConfig().Host}
	if ownLease != nil {
		readiness.expired = ownLease.Expired
	}
	if err := mgr.Add(readiness); err != nil {
		return fmt.Errorf("add readiness probe: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("cache", readiness.check); err != nil {
		return fmt.Errorf("add readiness probe: %w", err)
	}
	return nil
}

// readiness gets its informer when the manager has started its caches. With an informer
// that exists before, the manager waits for the hub and cannot be stopped meanwhile.
type readiness struct {
	cache  cache.Informers
	clock  clock.WithTicker
	hub    string
	synced atomic.Pointer[func() bool]
	// expired reports whether the agent's own lease has expired; nil without a lease.
	expired func() bool
}

// Start implements manager.Runnable.
func (r *readiness) Start(ctx context.Context) error {
	informer, err := r.cache.GetInformer(ctx, &addonv1alpha1.ManagedClusterAddOn{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch add-ons: %w", err)
	}
	synced := informer.HasSynced
	r.synced.Store(&synced)
	ticker := r.clock.NewTicker(logInterval)
	defer ticker.Stop()
	for !synced() {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if !synced() {
			log.FromContext(ctx).Info("Waiting for the hub: its add-ons could not be read yet; -v=2 logs the cause", "hub", r.hub)
		}
	}
	<-ctx.Done()
	return nil
}

func (r *readiness) check(*http.Request) error {
	if synced := r.synced.Load(); synced == nil || !(*synced)() {
		return errNotSynced
	}
	if r.expired != nil && r.expired() {
		return errExpired
	}
	return nil
}
