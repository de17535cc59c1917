package fleet

import (
	"cmp"
	"context"
	"iter"

	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// HostingCluster returns the managed cluster that runs the agent of an add-on. In OCM's hosted mode, an annotation
// names it.
func HostingCluster(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	return cmp.Or(addOn.Annotations[ocmv1alpha1.HostingClusterNameAnnotationKey], addOn.Namespace)
}

// Hosted reports whether another managed cluster runs the agent of the add-on.
func Hosted(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return HostingCluster(addOn) != addOn.Namespace
}

// Place adds an add-on to the installed ones that may need facts of the managed cluster.
func Place(addOn *addonv1alpha1.ManagedClusterAddOn, cluster string, installed *catalog.Installed) {
	switch {
	case addOn.Namespace != cluster:
		installed.Hosting = append(installed.Hosting, addOn.Name)
	case Hosted(addOn):
		installed.Hosted = append(installed.Hosted, addOn.Name)
	default:
		installed.Own = append(installed.Own, addOn.Name)
	}
}

// loadHosts adds the hosting clusters of these add-ons to the state of their cluster, if edges need them.
func (l Loader) loadHosts(
	ctx context.Context, evaluator *evaluation.Evaluator, addOns iter.Seq[evaluation.Observation], cluster *evaluation.Cluster,
) error {
	if !evaluator.AnyInput(input.Hosting) {
		return nil
	}
	for observed := range addOns {
		name := observed.HostingCluster
		if _, loaded := cluster.Hosts[name]; loaded || name == "" || !evaluator.OwnInputs(observed.Name).Any(input.Hosting) {
			continue
		}
		if partial, ok := l.Reader.(Partial); ok && partial.MayHaveCluster(name) {
			continue // the verdict is held
		}
		host, err := l.host(ctx, evaluator, name)
		if err != nil {
			return err
		}
		if cluster.Hosts == nil {
			cluster.Hosts = map[string]evaluation.HostingCluster{}
		}
		cluster.Hosts[name] = host
	}
	return nil
}

func (l Loader) host(ctx context.Context, evaluator *evaluation.Evaluator, name string) (evaluation.HostingCluster, error) {
	cluster, err := l.Reader.Cluster(ctx, name)
	if err != nil || cluster == nil {
		return evaluation.HostingCluster{Missing: true}, err
	}
	host := evaluation.HostingCluster{Available: ClusterStatus(cluster)}
	if l.Offline == evaluation.OfflineHold {
		host.Returned = returned(cluster)
	}
	if l.Memory != nil && l.Offline == evaluation.OfflineHold {
		host.Back = l.Memory.Back(name, host.Available)
	}
	host.Facts, err = l.Reader.Facts(ctx, evaluator.Catalog, name)
	return host, err
}
