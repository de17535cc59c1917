package lazywatch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// Configs returns a watch of AddOnDeploymentConfigs for the manager to run. Its objects
// are in the cache. It begins after everything else is in the cache, so that it delays
// nothing else.
func Configs(hub cache.Cache, synced <-chan struct{}, addOns AddOns) *Watch {
	var watch *Watch
	watch = New(Options{
		What:   "AddOnDeploymentConfigs",
		Synced: func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, input.Config) },
		Informer: func(ctx context.Context) (Informer, error) {
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
