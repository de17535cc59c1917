package hubcache

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// logEvery is how often the log says that the hub does not respond yet.
const logEvery = 15 * time.Second

var errNotSynced = errors.New("the cache of the hub's add-ons has not synced yet")

// Warmup fills and indexes the cache in every replica, so that the next leader has it
// all.
//
// It begins when the manager has started its caches. If an informer exists before, the
// manager waits for the hub at its start, and cannot be stopped while it waits.
type Warmup struct {
	cache   cache.Cache
	hub     string
	indexed chan struct{}
	synced  chan struct{}
}

// NewWarmup returns the warm-up of a cache. hub is the hub's name in the log.
func NewWarmup(of cache.Cache, hub string) *Warmup {
	return &Warmup{cache: of, hub: hub, indexed: make(chan struct{}), synced: make(chan struct{})}
}

// Indexed is closed once all is indexed. Before, some reads fail.
func (w *Warmup) Indexed() <-chan struct{} { return w.indexed }

// Start implements manager.Runnable.
func (w *Warmup) Start(ctx context.Context) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	close(w.indexed)
	go w.logWaiting(ctx)
	if w.cache.WaitForCacheSync(ctx) {
		close(w.synced)
	}
	<-ctx.Done()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (w *Warmup) NeedLeaderElection() bool { return false }

func (w *Warmup) prepare(ctx context.Context) error {
	if err := index(ctx, w.cache); err != nil {
		return fmt.Errorf("index managed cluster add-ons: %w", err)
	}
	for _, object := range []client.Object{
		&addonv1alpha1.ClusterManagementAddOn{}, &addonv1alpha1.ManagedClusterAddOn{}, &clusterv1.ManagedCluster{},
	} {
		if _, err := w.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cache %T: %w", object, err)
		}
	}
	return nil
}

// Check is a readiness check, which passes once all is cached.
func (w *Warmup) Check(*http.Request) error {
	select {
	case <-w.synced:
		return nil
	default:
		return errNotSynced
	}
}

// logWaiting logs that it waits for the hub, until that responds: client-go logs
// nothing about an API server that refuses connections.
func (w *Warmup) logWaiting(ctx context.Context) {
	_ = wait.PollUntilContextCancel(ctx, logEvery, false, func(context.Context) (ready bool, err error) {
		if w.Check(nil) == nil {
			return true, nil
		}
		log.FromContext(ctx).Info("Waiting for the hub: its add-ons and clusters could not be read yet; "+
			"are Open Cluster Management's CRDs installed? -v=2 logs more", "hub", w.hub)
		return false, nil
	})
}
