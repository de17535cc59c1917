package protection

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// removal is a hub from which an add-on has been removed: what its dependents there rest on. It has
// nothing of agents, which no edge on an add-on needs.
type removal struct {
	fleet.Objects
	removed string
	cluster *clusterv1.ManagedCluster
	addOns  map[string]*addonv1alpha1.ManagedClusterAddOn
	// cache has the AddOnTemplates.
	cache client.Reader
}

var _ fleet.Reader = removal{}

// AddOn implements fleet.Reader.
func (r removal) AddOn(_ context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	if key.Name == r.removed {
		return nil, nil
	}
	return r.addOns[key.Name], nil
}

// Cluster implements fleet.Reader.
func (r removal) Cluster(context.Context, string) (*clusterv1.ManagedCluster, error) {
	return r.cluster, nil
}

// TemplateVersion implements fleet.Reader.
func (r removal) TemplateVersion(ctx context.Context, name string) (version string, read bool, err error) {
	return fleet.Objects{Reader: r.cache}.TemplateVersion(ctx, name)
}

// OCMVersion implements fleet.Reader: it is not read.
func (removal) OCMVersion(context.Context) (version string, read bool, err error) {
	return "", false, nil
}

// Selected implements fleet.Reader: it is not read.
func (removal) Selected(context.Context, []types.NamespacedName, string) (selected, read bool, err error) {
	return false, false, nil
}

// Facts implements fleet.Reader: they are not read.
func (removal) Facts(context.Context, *catalog.Catalog, string) (evaluation.Facts, error) {
	return evaluation.Facts{}, nil
}

// break adds the dependents that are installed on the cluster, are not being deleted, and could not work
// without the add-on. Verdicts on a lost cluster are held, so that nothing breaks there.
func (r removal) breaks(ctx context.Context, under declared, dependents []string, now time.Time, into protection.Broken) error {
	loader := fleet.Loader{Reader: r, Offline: evaluation.OfflineHold}
	for _, dependent := range dependents {
		if installed := r.addOns[dependent]; installed == nil || !installed.DeletionTimestamp.IsZero() || dependent == r.removed {
			continue
		}
		state, err := loader.Load(ctx, under.Evaluator, types.NamespacedName{Namespace: r.cluster.Name, Name: dependent}, now)
		if err != nil {
			return fmt.Errorf("load what %s rests on: %w", dependent, err)
		}
		if protection.Requires(under.Evaluate(dependent, state), r.removed) {
			into.Add(dependent, r.cluster.Name)
		}
	}
	return nil
}
