package lazywatch

import (
	"context"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
)

// Watches maps each input to its watch.
type Watches map[input.Set]*Watch

// NewWatches returns the watches of the objects in a lazy cache, for a manager to run.
// Each watch enqueues the add-ons whose verdicts can change: when all of its objects are
// read, and when an object changes.
func NewWatches(lazy cache.Informers, addOns AddOns) Watches {
	watches := Watches{}
	const held = "these are held"
	watches[input.Config] = New(lazy, Options{
		Resource:  "AddOnDeploymentConfigs",
		Object:    &addonv1alpha1.AddOnDeploymentConfig{},
		Meanwhile: held,
		Changed: func(ctx context.Context, old, updated client.Object) error {
			return addOns.EnqueueConfigured(ctx, client.ObjectKeyFromObject(latest(old, updated)))
		},
		Synced: func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, input.Variables) },
	})
	watches[input.Versions] = New(lazy, Options{
		Resource:  "AddOnTemplates",
		Object:    &addonv1alpha1.AddOnTemplate{},
		Meanwhile: held,
		Changed: func(ctx context.Context, old, updated client.Object) error {
			template := latest(old, updated)
			addOns.templateChanged(template)
			return addOns.EnqueueTemplated(ctx, template.GetName())
		},
		Synced: func(ctx context.Context) error {
			addOns.Declare.Enqueue(declarations.Key)
			return addOns.EnqueueUsers(ctx, input.Versions|input.Version)
		},
	})
	// The version of an add-on can be the version of OCM.
	const ocmInputs = input.OCM | input.Versions | input.Version
	watches[input.OCM] = New(lazy, Options{
		Resource:  "the CRD of ManagedCluster",
		Object:    fleet.CRD(),
		Meanwhile: held,
		Changed:   func(ctx context.Context, _, _ client.Object) error { return addOns.EnqueueUsers(ctx, ocmInputs) },
		Synced:    func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, ocmInputs) },
	})
	addPlacementWatches(watches, lazy, addOns)
	return watches
}

// addPlacementWatches adds the watches of Placements, of their decisions and of policies, by which add-ons are installed.
func addPlacementWatches(watches Watches, lazy cache.Informers, addOns AddOns) {
	watches[input.Placements] = New(lazy, Options{
		Resource:  "PlacementDecisions",
		Object:    &clusterv1beta1.PlacementDecision{},
		Indexers:  hubcache.DecisionIndexers(),
		Meanwhile: "their messages do not say whether a Placement selects the managed cluster",
		Changed:   addOns.EnqueueSelected,
		Synced:    addOns.EnqueueUninstalled,
	})
	watches[input.Consents] = New(lazy, Options{
		Resource:  "Placements",
		Object:    &clusterv1beta1.Placement{},
		Meanwhile: "it is not known by which of them Interlock may install add-ons",
		Changed:   func(ctx context.Context, _, _ client.Object) error { return addOns.rebuildCatalog(ctx) },
		Synced:    addOns.rebuildCatalog,
	})
	watches[input.Policies] = New(lazy, Options{
		Resource:  "AddOnDependencyPolicies",
		Object:    &dependencyv1alpha1.AddOnDependencyPolicy{},
		Purpose:   "by which administrators override what is declared",
		Meanwhile: "these count as they were when addon-manager started",
		Changed: func(_ context.Context, old, updated client.Object) error {
			addOns.policyChanged(old, updated)
			return nil
		},
		Synced: addOns.rebuildCatalog,
	})
}

// latest returns the object after a change, or the last object before its deletion.
func latest(old, updated client.Object) client.Object {
	if updated != nil {
		return updated
	}
	return old
}

// Enable starts the watches of the inputs that are used.
func (w Watches) Enable(used func(input.Set) bool) {
	for inputs, watch := range w {
		if used(inputs) {
			watch.Enable()
		}
	}
}

// Demand implements hubcache.Watches.
func (w Watches) Demand(inputs input.Set) bool {
	w[inputs].Enable()
	return w[inputs].Ready()
}

// Late implements hubcache.Watches.
func (w Watches) Late(inputs input.Set) bool { return w[inputs].Late() }

var _ hubcache.Watches = Watches{}

// Ready reports whether all objects of an input are read.
func (w Watches) Ready(inputs input.Set) bool { return w[inputs].Ready() }
