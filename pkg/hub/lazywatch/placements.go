package lazywatch

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
)

// EnqueueSelected enqueues the add-ons on the managed clusters that a Placement begins or ceases
// to select, if the Placement installs a dependency of theirs. OCM installs or deletes that
// dependency within seconds. So the add-ons are evaluated later, and written once.
func (a AddOns) EnqueueSelected(ctx context.Context, old, updated client.Object) error {
	evaluator := a.Declarations.Current()
	if evaluator == nil {
		return nil
	}
	placement := fleet.PlacementOf(latest(old, updated).(*clusterv1beta1.PlacementDecision))
	for _, addOn := range evaluator.PlacedBy(placement) {
		for cluster := range selectedClusters(old).SymmetricDifference(selectedClusters(updated)) {
			if err := a.enqueueDependentsWithout(ctx, evaluator, types.NamespacedName{Namespace: cluster, Name: addOn}); err != nil {
				return err
			}
		}
	}
	return nil
}

func selectedClusters(object client.Object) sets.Set[string] {
	clusters := sets.New[string]()
	if object == nil {
		return clusters
	}
	for _, decision := range object.(*clusterv1beta1.PlacementDecision).Status.Decisions {
		clusters.Insert(decision.ClusterName)
	}
	return clusters
}

// enqueueDependentsWithout enqueues the dependents of an add-on if the add-on is not installed.
func (a AddOns) enqueueDependentsWithout(ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName) error {
	installation, err := a.Fleet.AddOn(ctx, addOn)
	if err != nil || installation != nil {
		return err
	}
	for _, dependent := range evaluator.Dependents(addOn.Name) {
		a.Evaluate.EnqueueAfter(declarations.RewordAfter, types.NamespacedName{Namespace: addOn.Namespace, Name: dependent})
	}
	return nil
}

// EnqueueUninstalled enqueues the dependents of each add-on that Placements install, on the
// managed clusters where the add-on is not installed.
func (a AddOns) EnqueueUninstalled(ctx context.Context) error {
	evaluator := a.Declarations.Current()
	if evaluator == nil {
		return nil
	}
	for _, addOn := range evaluator.AddOns() {
		dependents := evaluator.Dependents(addOn)
		if !evaluator.Install(addOn).Placed || len(dependents) == 0 {
			continue
		}
		installations, err := a.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		clusters := sets.New[string]()
		for _, key := range installations {
			clusters.Insert(key.Namespace)
		}
		for _, dependent := range dependents {
			keys, err := a.Fleet.Installed(ctx, dependent)
			if err != nil {
				return err
			}
			a.Evaluate.Enqueue(slices.DeleteFunc(keys, func(key types.NamespacedName) bool { return clusters.Has(key.Namespace) })...)
		}
	}
	return nil
}
