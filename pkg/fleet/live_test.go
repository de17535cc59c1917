package fleet

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// live reads a hub with a live client. It gets single objects.
type live struct{ Objects }

var _ Reader = live{}

func newLive(hub client.Reader) live { return live{Objects{Reader: hub}} }

// Facts implements Reader. It does not know whether the agent still runs.
func (l live) Facts(ctx context.Context, _ *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	key := types.NamespacedName{Namespace: cluster, Name: cluster}
	object, err := get(ctx, l, "ManagedClusterFacts", key, &dependencyv1alpha1.ManagedClusterFacts{})
	if err != nil || object == nil {
		return evaluation.Facts{}, err
	}
	return FactsOf(object), nil
}

// Selected implements Reader. The fake client has no PlacementDecisions.
func (live) Selected(context.Context, []types.NamespacedName, string) (bool, bool, error) {
	return false, false, nil
}

// Setting implements fleet.Reader.
func (live) Setting(context.Context, types.NamespacedName) (settings.Outcome, error) {
	return settings.Outcome{}, nil
}

// Installation implements Reader. The fake client has no plan.
func (live) Installation(context.Context, types.NamespacedName) (evaluation.Wait, error) {
	return evaluation.WaitUnknown, nil
}

// HubAPIs implements Reader. The fake client has no discovery.
func (live) HubAPIs(context.Context) (evaluation.APIFacts, error) { return nil, nil }
