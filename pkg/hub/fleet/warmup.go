package fleet

import (
	"context"
	"fmt"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// indexName finds the add-ons of one name in all clusters.
const indexName = "metadata.name"

// IndexConfig finds the add-ons that refer to an AddOnDeploymentConfig, by its key.
const IndexConfig = "status.configReferences"

// patience is how long the hub may be silent before the log says so, each time.
const patience = 15 * time.Second

// Warmup has everything that Reader reads cached and indexed, in every replica:
// one that takes over has it all already.
//
// It does so only when the manager has started its caches. An informer that
// exists before makes the manager wait there for the hub, and while it waits
// there, it cannot be stopped.
type Warmup struct {
	cache    cache.Cache
	hub      string
	prepared chan struct{}
	synced   chan struct{}
}

// NewWarmup returns the warm-up of a cache; hub is what the log calls the hub.
func NewWarmup(fleet cache.Cache, hub string) *Warmup {
	return &Warmup{cache: fleet, hub: hub, prepared: make(chan struct{}), synced: make(chan struct{})}
}

// Prepared is closed once all is indexed; before, not every read is answered.
func (w *Warmup) Prepared() <-chan struct{} { return w.prepared }

// Synced is closed once all is cached.
func (w *Warmup) Synced() <-chan struct{} { return w.synced }

// Start implements manager.Runnable.
func (w *Warmup) Start(ctx context.Context) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	close(w.prepared)
	go w.complain(ctx)
	if w.cache.WaitForCacheSync(ctx) {
		close(w.synced)
	}
	<-ctx.Done()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (w *Warmup) NeedLeaderElection() bool { return false }

func (w *Warmup) prepare(ctx context.Context) error {
	err := w.cache.IndexField(ctx, &addonv1alpha1.ManagedClusterAddOn{}, indexName,
		func(object client.Object) []string { return []string{object.GetName()} })
	if err != nil {
		return fmt.Errorf("index managed cluster add-ons by name: %w", err)
	}
	if err := w.cache.IndexField(ctx, &addonv1alpha1.ManagedClusterAddOn{}, IndexConfig, ConfigKeys); err != nil {
		return fmt.Errorf("index managed cluster add-ons by their configuration: %w", err)
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

// complain says at intervals that the hub is waited for, until it has answered:
// client-go says nothing of an API server that refuses connections.
func (w *Warmup) complain(ctx context.Context) {
	ticker := time.NewTicker(patience)
	defer ticker.Stop()
	for {
		select {
		case <-w.synced:
			return
		case <-ctx.Done():
			return
		case <-ticker.C:
			log.FromContext(ctx).Info("Waiting for the hub: its add-ons and clusters could not be read yet; "+
				"are Open Cluster Management's CRDs installed? -v=2 tells more", "hub", w.hub)
		}
	}
}
