package lazywatch

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// AddOns enqueues the add-ons whose verdicts can change with an input that only some
// declarations use. Before the first catalog it does nothing, because every add-on is
// still to be evaluated.
type AddOns struct {
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	// Evaluate triggers the evaluation of add-ons.
	Evaluate *trigger.Trigger
}

// EnqueueUsers enqueues every add-on with an edge that uses one of the given inputs.
func (a AddOns) EnqueueUsers(ctx context.Context, of input.Set) error {
	declared := a.Declarations.Current()
	if declared == nil {
		return nil
	}
	for _, addOn := range declared.WithInput(of) {
		keys, err := a.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		a.Evaluate.Enqueue(keys...)
	}
	return nil
}

// EnqueueConfigured enqueues the add-ons whose verdicts depend on an AddOnDeploymentConfig.
func (a AddOns) EnqueueConfigured(ctx context.Context, config types.NamespacedName) error {
	declared := a.Declarations.Current()
	if declared == nil {
		return nil
	}
	referring, err := a.Fleet.Configured(ctx, config)
	if err != nil {
		return err
	}
	for _, addOn := range referring {
		if !declared.OwnInputs(addOn.Name).Any(input.Config) {
			continue
		}
		for _, name := range declared.Readers(addOn.Name) {
			a.Evaluate.Enqueue(types.NamespacedName{Namespace: addOn.Namespace, Name: name})
		}
	}
	return nil
}

// EnqueueTemplated enqueues the add-ons whose verdicts depend on the version of an AddOnTemplate.
func (a AddOns) EnqueueTemplated(ctx context.Context, template string) error {
	declared := a.Declarations.Current()
	if declared == nil {
		return nil
	}
	running, err := a.Fleet.Templated(ctx, template)
	if err != nil {
		return err
	}
	for _, addOn := range running {
		for _, dependent := range declared.Dependents(addOn.Name) {
			if declared.Inputs(dependent).Any(input.Versions) {
				a.Evaluate.Enqueue(types.NamespacedName{Namespace: addOn.Namespace, Name: dependent})
			}
		}
	}
	return nil
}
