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

// EnqueueSelected enqueues the add-ons on those managed clusters that a Placement begins or
// ceases to select, if it installs what they depend on. OCM installs or deletes that within
// seconds, which changes their verdicts. So they are evaluated later, and written once.
func (a AddOns) EnqueueSelected(ctx context.Context, before, after client.Object) error {
	declared := a.Declarations.Current()
	if declared == nil {
		return nil
	}
	placement := fleet.PlacementOf(either(before, after).(*clusterv1beta1.PlacementDecision))
	for _, addOn := range declared.PlacedBy(placement) {
		for cluster := range selectedBy(before).SymmetricDifference(selectedBy(after)) {
			if err := a.enqueueWithout(ctx, declared, types.NamespacedName{Namespace: cluster, Name: addOn}); err != nil {
				return err
			}
		}
	}
	return nil
}

func selectedBy(decision client.Object) sets.Set[string] {
	clusters := sets.New[string]()
	if decision == nil {
		return clusters
	}
	for _, one := range decision.(*clusterv1beta1.PlacementDecision).Status.Decisions {
		clusters.Insert(one.ClusterName)
	}
	return clusters
}

// enqueueWithout enqueues the dependents of an add-on where it is not installed.
func (a AddOns) enqueueWithout(ctx context.Context, declared *evaluation.Evaluator, addOn types.NamespacedName) error {
	installed, err := a.Fleet.AddOn(ctx, addOn)
	if err != nil || installed != nil {
		return err
	}
	for _, dependent := range declared.Dependents(addOn.Name) {
		a.Evaluate.EnqueueAfter(declarations.RewordAfter, types.NamespacedName{Namespace: addOn.Namespace, Name: dependent})
	}
	return nil
}

// EnqueueUninstalled enqueues the add-ons that depend on one which Placements install, where
// that one is not installed.
func (a AddOns) EnqueueUninstalled(ctx context.Context) error {
	declared := a.Declarations.Current()
	if declared == nil {
		return nil
	}
	for _, addOn := range declared.AddOns() {
		dependents := declared.Dependents(addOn)
		if !declared.Install(addOn).Placed || len(dependents) == 0 {
			continue
		}
		there, err := a.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		has := sets.New[string]()
		for _, key := range there {
			has.Insert(key.Namespace)
		}
		for _, dependent := range dependents {
			keys, err := a.Fleet.Installed(ctx, dependent)
			if err != nil {
				return err
			}
			a.Evaluate.Enqueue(slices.DeleteFunc(keys, func(key types.NamespacedName) bool { return has.Has(key.Namespace) })...)
		}
	}
	return nil
}
