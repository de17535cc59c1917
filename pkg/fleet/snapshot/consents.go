package snapshot

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// consents reads by which Placements owners let Interlock install add-ons, and what it has installed. Which installations are read depends
// on the consents.
func (t *taking) consents(ctx context.Context, declared *evaluation.Evaluator) error {
	listed := consentedBy(declared)
	if t.placements {
		listed = placementsOf(declared)
	}
	if len(listed) > 0 {
		if err := t.listPlacements(ctx, listed); err != nil {
			return err
		}
	}
	consented := declared.Consented(catalog.Placements{Items: t.into.Placements, Unread: !t.into.PlacementsRead})
	return t.installations(ctx, consented)
}

// consentedBy are the Placements that install add-ons which edges have installed (install: Auto).
func consentedBy(declared *evaluation.Evaluator) sets.Set[types.NamespacedName] {
	placements := sets.New[types.NamespacedName]()
	for _, dependent := range declared.AddOns() {
		for _, need := range declared.Needs(dependent) {
			if need.Inputs.Any(input.Consents) {
				placements.Insert(declared.Install(need.Name).Placements...)
			}
		}
	}
	return placements
}

// listPlacements reads these Placements. They only explain: it is no error that a user may not read them, or that a hub does not serve
// them. Consent is unknown then.
func (t *taking) listPlacements(ctx context.Context, listed sets.Set[types.NamespacedName]) error {
	var all []clusterv1beta1.Placement
	for _, namespace := range sets.List(namespacesOf(listed)) {
		err := Each(ctx, t.hub, "placements", namespace, func(list *clusterv1beta1.PlacementList) {
			for i := range list.Items {
				lean := fleet.LeanPlacement(&list.Items[i])
				lean.UID, lean.ResourceVersion = "", ""
				if listed.Has(types.NamespacedName{Namespace: lean.Namespace, Name: lean.Name}) {
					all = append(all, *lean)
				}
			}
		})
		if err != nil {
			return ctx.Err()
		}
	}
	t.into.Placements, t.into.PlacementsRead = all, true
	return nil
}

// namespacesOf are the namespaces of Placements.
func namespacesOf(placements sets.Set[types.NamespacedName]) sets.Set[string] {
	namespaces := sets.New[string]()
	for placement := range placements {
		namespaces.Insert(placement.Namespace)
	}
	return namespaces
}
