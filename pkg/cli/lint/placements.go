package lint

import (
	"context"
	"fmt"
	"slices"

	ocmaddonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// judgePlacements adds findings on dependencies that Placements do not install. Only add-ons with Placements can have such findings.
func (o *options) judgePlacements(ctx context.Context, registrations []report.Declared, hub *hub) error {
	strategies := map[string][]ocmaddonv1alpha1.PlacementStrategy{}
	for i := range registrations {
		addOn := &registrations[i].AddOn
		if addOn.Spec.InstallStrategy.Type == ocmaddonv1alpha1.AddonInstallStrategyPlacements {
			strategies[addOn.Name] = append(strategies[addOn.Name], addOn.Spec.InstallStrategy.Placements...)
		}
	}
	switch {
	case len(strategies) == 0 || !o.live && !o.source.IsFile():
		return nil
	case o.source.IsFile():
		fmt.Fprintln(o.ErrOut, "A snapshot has no PlacementDecisions, so placements were not checked: use --live.")
		return nil
	}
	reader, err := o.source.Reader()
	if err != nil {
		return err
	}
	selected := map[string][]string{}
	for addOn, placements := range strategies {
		if selected[addOn], err = clusters(ctx, reader, placements); err != nil {
			return err
		}
	}
	fleet, err := hub.snapshot(ctx)
	if err != nil {
		return err
	}
	o.result.Items = append(o.result.Items, report.FindUncovered(registrations, fleet, selected)...)
	return nil
}

// clusters returns the managed clusters that Placements have selected, ascending.
func clusters(ctx context.Context, hub client.Reader, placements []ocmaddonv1alpha1.PlacementStrategy) ([]string, error) {
	var names []string
	for _, placement := range placements {
		if err := snapshot.Each(ctx, hub, "placementdecisions", placement.Namespace, func(list *clusterv1beta1.PlacementDecisionList) {
			for i := range list.Items {
				for _, decision := range list.Items[i].Status.Decisions {
					names = append(names, decision.ClusterName)
				}
			}
		}, client.MatchingLabels{clusterv1beta1.PlacementLabel: placement.Name}); err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
