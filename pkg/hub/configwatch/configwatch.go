// Package configwatch watches AddOnDeploymentConfigs, from when an expression
// reads one.
package configwatch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/hub/affected"
	"open-cluster-management.io/interlock/pkg/hub/lazywatch"
)

// New returns a watch for the manager to run. Its objects are in the cache. It
// begins after everything else is in the cache, so that it delays nothing else.
func New(hub cache.Cache, synced <-chan struct{}, addOns affected.AddOns) *lazywatch.Watch {
	var watch *lazywatch.Watch
	watch = lazywatch.New(lazywatch.Options{
		What:   "AddOnDeploymentConfigs",
		Synced: func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, input.Config) },
		Informer: func(ctx context.Context) (lazywatch.Informer, error) {
			select {
			case <-synced:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return hub.GetInformer(ctx, &addonv1alpha1.AddOnDeploymentConfig{}, cache.BlockUntilSynced(false))
		},
		Changed: func(ctx context.Context, before, after any) error {
			if !watch.Ready() {
				return nil // Synced enqueues every add-on that uses a config
			}
			object, ok := after.(client.Object)
			if !ok {
				object = before.(client.Object)
			}
			return addOns.EnqueueConfigured(ctx, client.ObjectKeyFromObject(object))
		},
	})
	return watch
}
