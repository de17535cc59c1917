package hubcache

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Inputs reads all inputs of evaluation: the fleet from the main cache, the kinds that only some
// declarations need from the lazy cache, and the facts that agents report.
type Inputs struct {
	Reader
	Lazy fleet.Objects
	// Watches fill the lazy cache.
	Watches Watches
	// Installations has the reasons for which installations wait.
	Installations *Installations
	// Settings has the outcome of the requests for settings.
	Settings *Settings
	// Reported reads the facts that agents report.
	Reported interface {
		Facts(ctx context.Context, c *catalog.Catalog, cluster string) (evaluation.Facts, error)
	}
	// Served has the facts on the APIs of the hub.
	Served interface{ APIFacts() evaluation.APIFacts }
}

// Watches fill the lazy cache. Each watch belongs to an input.
type Watches interface {
	// Ready reports whether the objects of an input are in the lazy cache.
	Ready(inputs input.Set) bool
	// Demand begins to read the objects of an input, and returns the result of Ready.
	Demand(inputs input.Set) bool
	// Late reports whether the hub has not responded for long since the objects were demanded.
	Late(inputs input.Set) bool
}

var _ fleet.Reader = Inputs{}

// Installation implements fleet.Reader.
func (i Inputs) Installation(_ context.Context, addOn types.NamespacedName) (evaluation.Wait, error) {
	return i.Installations.Wait(addOn), nil
}

// Setting implements fleet.Reader.
func (i Inputs) Setting(_ context.Context, addOn types.NamespacedName) (settings.Outcome, error) {
	return i.Settings.Outcome(addOn), nil
}

// Config implements fleet.Reader.
func (i Inputs) Config(ctx context.Context, key types.NamespacedName) (map[string]string, bool, error) {
	if !i.Watches.Ready(input.Config) {
		return nil, false, nil
	}
	return i.Lazy.Config(ctx, key)
}

// TemplateVersion implements fleet.Reader.
func (i Inputs) TemplateVersion(ctx context.Context, name string) (string, bool, error) {
	if !i.Watches.Ready(input.Versions) {
		return "", false, nil
	}
	return i.Lazy.TemplateVersion(ctx, name)
}

// Templates returns the AddOnTemplates of the hub.
func (i Inputs) Templates(ctx context.Context) (catalog.Templates, error) {
	if !i.Watches.Ready(input.Versions) {
		return catalog.Templates{Unread: true}, nil
	}
	items, err := i.Lazy.Templates(ctx)
	return catalog.Templates{Items: items}, err
}

// Placements returns the Placements of the hub.
func (i Inputs) Placements(ctx context.Context) (catalog.Placements, error) {
	if !i.Watches.Ready(input.Consents) {
		return catalog.Placements{Unread: true}, nil
	}
	var list clusterv1beta1.PlacementList
	if err := i.Lazy.List(ctx, &list); err != nil {
		return catalog.Placements{}, fmt.Errorf("list Placements: %w", err)
	}
	return catalog.Placements{Items: list.Items}, nil
}

// OCMVersion implements fleet.Reader.
func (i Inputs) OCMVersion(ctx context.Context) (string, bool, error) {
	if !i.Watches.Demand(input.OCM) {
		return "", false, nil
	}
	return i.Lazy.OCMVersion(ctx)
}

// Selected implements fleet.Reader. On a hub that does not serve PlacementDecisions, every Placement is assumed to select every cluster.
// Otherwise, add-ons would be reported and handled as not selected.
func (i Inputs) Selected(ctx context.Context, placements []types.NamespacedName, cluster string) (selected, read bool, err error) {
	if len(placements) > 0 && !i.Watches.Demand(input.Placements) {
		unavailable := i.Watches.Late(input.Placements)
		return unavailable, unavailable, nil
	}
	for _, placement := range placements {
		var decisions clusterv1beta1.PlacementDecisionList
		if err := i.Lazy.List(ctx, &decisions, client.MatchingFields{IndexPlacement: placement.String()}); err != nil {
			return false, false, fmt.Errorf("list PlacementDecisions of %s: %w", placement, err)
		}
		for i := range decisions.Items {
			if fleet.Selects(&decisions.Items[i], cluster) {
				return true, true, nil
			}
		}
	}
	return false, true, nil
}

// Facts implements fleet.Reader.
func (i Inputs) Facts(ctx context.Context, c *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	return i.Reported.Facts(ctx, c, cluster)
}

// HubAPIs implements fleet.Reader.
func (i Inputs) HubAPIs(context.Context) (evaluation.APIFacts, error) {
	return i.Served.APIFacts(), nil
}
