package hub

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
	"open-cluster-management.io/interlock/pkg/hub/ondemand"
)

// waking has add-ons evaluated because of what only some edges look at.
type waking struct {
	fleet fleet.Reader
	store *declarations.Store
	wake  func(context.Context, []types.NamespacedName) error
}

// users returns a function that wakes every add-on that uses something.
func (w waking) users(of input.Set) func(context.Context) error {
	return func(ctx context.Context) error {
		catalog := w.store.Current()
		if catalog == nil {
			return nil // every add-on is still to be evaluated
		}
		for _, addOn := range catalog.WithInput(of) {
			keys, err := w.fleet.Installed(ctx, addOn)
			if err != nil {
				return err
			}
			if err := w.wake(ctx, keys); err != nil {
				return err
			}
		}
		return nil
	}
}

// configured wakes the add-ons whose verdicts depend on one AddOnDeploymentConfig.
func (w waking) configured(ctx context.Context, config types.NamespacedName) error {
	catalog := w.store.Current()
	if catalog == nil {
		return nil
	}
	referring, err := w.fleet.Configured(ctx, config)
	if err != nil {
		return err
	}
	var keys []types.NamespacedName
	for _, addOn := range referring {
		if !catalog.OwnInputs(addOn.Name).Any(input.Config) {
			continue
		}
		for _, peer := range catalog.Readers(addOn.Name) {
			keys = append(keys, types.NamespacedName{Namespace: addOn.Namespace, Name: peer})
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return w.wake(ctx, keys)
}

// templated enqueues the add-ons whose verdicts depend on the version of one AddOnTemplate.
func (w waking) templated(ctx context.Context, template string) error {
	catalog := w.store.Current()
	if catalog == nil {
		return nil
	}
	running, err := w.fleet.Templated(ctx, template)
	if err != nil {
		return err
	}
	var keys []types.NamespacedName
	for _, addOn := range running {
		for _, dependent := range catalog.Dependents(addOn.Name) {
			if catalog.Inputs(dependent).Any(input.Versions) {
				keys = append(keys, types.NamespacedName{Namespace: addOn.Namespace, Name: dependent})
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return w.wake(ctx, keys)
}

// watchConfigs watches AddOnDeploymentConfigs once an expression looks at one.
func watchConfigs(mgr ctrl.Manager, synced <-chan struct{}, waking waking) (*ondemand.Watch, error) {
	watch := &ondemand.Watch{
		What:   "AddOnDeploymentConfigs",
		Synced: waking.users(input.Config),
		Informer: func(ctx context.Context) (ondemand.Informer, error) {
			// Who waits for the whole cache is not to wait for this.
			select {
			case <-synced:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return mgr.GetCache().GetInformer(ctx, &addonv1alpha1.AddOnDeploymentConfig{}, cache.BlockUntilSynced(false))
		},
	}
	watch.Changed = func(ctx context.Context, before, after any) error {
		if !watch.Ready() {
			return nil // all who look at any are woken then
		}
		object, ok := after.(client.Object)
		if !ok {
			object = before.(client.Object)
		}
		return waking.configured(ctx, client.ObjectKeyFromObject(object))
	}
	if err := mgr.Add(watch); err != nil {
		return nil, fmt.Errorf("add watch of AddOnDeploymentConfigs: %w", err)
	}
	return watch, nil
}
