package lazywatch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
)

// Watches are the watches, by the input that they watch.
type Watches map[input.Set]*Watch

// NewWatches returns the watches of the objects in a lazy cache, for a manager to run.
// Each enqueues the add-ons whose verdicts can change: when all of its objects are read,
// and when one of them changes.
func NewWatches(lazy cache.Informers, addOns AddOns) Watches {
	watches := Watches{}
	watches[input.Config] = New(lazy, Options{
		What: "AddOnDeploymentConfigs", Object: &addonv1alpha1.AddOnDeploymentConfig{},
		Changed: func(ctx context.Context, config client.Object) error {
			return addOns.EnqueueConfigured(ctx, client.ObjectKeyFromObject(config))
		},
		Synced: func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, input.Variables) },
	})
	watches[input.Versions] = New(lazy, Options{
		What: "AddOnTemplates", Object: &addonv1alpha1.AddOnTemplate{},
		Changed: func(ctx context.Context, template client.Object) error {
			addOns.declare(template)
			return addOns.EnqueueTemplated(ctx, template.GetName())
		},
		Synced: func(ctx context.Context) error {
			addOns.Declare.Enqueue(declarations.Key)
			return addOns.EnqueueUsers(ctx, input.Versions|input.Version)
		},
	})
	// The version of an add-on can be that of OCM too.
	const ofOCM = input.OCM | input.Versions | input.Version
	watches[input.OCM] = New(lazy, Options{
		What: "the CRD of ManagedCluster", Object: fleet.CRD(),
		Changed: func(ctx context.Context, _ client.Object) error { return addOns.EnqueueUsers(ctx, ofOCM) },
		Synced:  func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, ofOCM) },
	})
	return watches
}

// Enable lets those watches begin whose input is used.
func (w Watches) Enable(used func(input.Set) bool) {
	for of, watch := range w {
		if used(of) {
			watch.Enable()
		}
	}
}

// Demand lets the watch of an input begin.
func (w Watches) Demand(of input.Set) { w[of].Enable() }

// Ready reports whether all objects of an input are read.
func (w Watches) Ready(of input.Set) bool { return w[of].Ready() }
