package snapshot

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// consents reads the Placements by which owners let Interlock install add-ons, and the AddOnInstallations of these add-ons.
func (t *taking) consents(ctx context.Context, evaluator *evaluation.Evaluator) error {
	placements := consentPlacements(evaluator)
	if t.placements {
		placements = placementsOf(evaluator)
	}
	if len(placements) > 0 {
		if err := t.listPlacements(ctx, placements); err != nil {
			return err
		}
	}
	consented := evaluator.Consented(catalog.Placements{Items: t.content.Placements, Unread: !t.content.PlacementsRead})
	return t.installations(ctx, consented)
}

// consentPlacements returns the Placements of add-ons that edges install (install: Auto).
func consentPlacements(evaluator *evaluation.Evaluator) sets.Set[types.NamespacedName] {
	placements := sets.New[types.NamespacedName]()
	for _, dependent := range evaluator.AddOns() {
		for _, need := range evaluator.Needs(dependent) {
			if need.Inputs.Any(input.Consents) {
				placements.Insert(evaluator.Install(need.Name).Placements...)
			}
		}
	}
	return placements
}

// listPlacements reads these Placements. Without the right to read them, or on a hub that does not serve them, consent is unknown.
// This is no error, because Placements only explain.
func (t *taking) listPlacements(ctx context.Context, keys sets.Set[types.NamespacedName]) error {
	var placements []clusterv1beta1.Placement
	for _, namespace := range sets.List(namespacesOf(keys)) {
		err := Each(ctx, t.hub, "placements", namespace, func(list *clusterv1beta1.PlacementList) {
			for i := range list.Items {
				lean := fleet.LeanPlacement(&list.Items[i])
				lean.UID, lean.ResourceVersion = "", ""
				if keys.Has(types.NamespacedName{Namespace: lean.Namespace, Name: lean.Name}) {
					placements = append(placements, *lean)
				}
			}
		})
		if err != nil {
			return ctx.Err()
		}
	}
	t.content.Placements, t.content.PlacementsRead = placements, true
	return nil
}

// namespacesOf returns the namespaces of Placements.
func namespacesOf(placements sets.Set[types.NamespacedName]) sets.Set[string] {
	namespaces := sets.New[string]()
	for placement := range placements {
		namespaces.Insert(placement.Namespace)
	}
	return namespaces
}
