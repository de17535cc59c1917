package fleet

import (
	"context"
	"fmt"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// indexName finds the add-ons of one name in all clusters.
const indexName = "metadata.name"

const (
	// IndexConfig finds the add-ons that refer to an AddOnDeploymentConfig, by its key.
	IndexConfig = "status.configReferences"
	// IndexTemplate finds the add-ons that run an AddOnTemplate, or are about to, by its name.
	IndexTemplate = "status.configReferences.addontemplates"
)

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
	if err := w.index(ctx); err != nil {
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

// index does what the cache's IndexField does, but for second entries of each
// add-on under its own namespace: nobody asks for these, and they would take more
// memory than the conditions. The names are those that the cache looks for.
func (w *Warmup) index(ctx context.Context) error {
	informer, err := w.cache.GetInformer(ctx, &addonv1alpha1.ManagedClusterAddOn{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	return informer.AddIndexers(toolscache.Indexers{
		"field:" + indexName:     inAllNamespaces(func(addOn client.Object) []string { return []string{addOn.GetName()} }),
		"field:" + IndexConfig:   inAllNamespaces(ConfigKeys),
		"field:" + IndexTemplate: inAllNamespaces(templateNames),
	})
}

func inAllNamespaces(values func(client.Object) []string) toolscache.IndexFunc {
	return func(object any) ([]string, error) {
		addOn, ok := object.(client.Object)
		if !ok {
			return nil, fmt.Errorf("a %T cannot be indexed", object)
		}
		indexed := values(addOn)
		for i, value := range indexed {
			indexed[i] = shared("__all_namespaces/" + value)
		}
		return indexed, nil
	}
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
