package fleet

import (
	"cmp"
	"context"
	"iter"

	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// HostingCluster is the managed cluster that runs the agent of an add-on: in OCM's hosted mode, an annotation
// names it.
func HostingCluster(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	return cmp.Or(addOn.Annotations[ocmv1alpha1.HostingClusterNameAnnotationKey], addOn.Namespace)
}

// Hosted reports whether another managed cluster runs the agent of the add-on.
func Hosted(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return HostingCluster(addOn) != addOn.Namespace
}

// Place adds an add-on to those that may need to know something of a managed cluster.
func Place(addOn *addonv1alpha1.ManagedClusterAddOn, cluster string, into *catalog.Installed) {
	switch {
	case addOn.Namespace != cluster:
		into.Hosting = append(into.Hosting, addOn.Name)
	case Hosted(addOn):
		into.Hosted = append(into.Hosted, addOn.Name)
	default:
		into.Own = append(into.Own, addOn.Name)
	}
}

// loadHosts adds to the cluster the other managed clusters that run agents of these add-ons, where edges need them.
func (l Loader) loadHosts(
	ctx context.Context, declared *evaluation.Evaluator, addOns iter.Seq[evaluation.Observation], into *evaluation.Cluster,
) error {
	if !declared.AnyInput(input.Hosting) {
		return nil
	}
	for observed := range addOns {
		name := observed.HostingCluster
		if _, read := into.Hosts[name]; read || name == "" || !declared.OwnInputs(observed.Name).Any(input.Hosting) {
			continue
		}
		host, err := l.host(ctx, declared, name)
		if err != nil {
			return err
		}
		if into.Hosts == nil {
			into.Hosts = map[string]evaluation.HostingCluster{}
		}
		into.Hosts[name] = host
	}
	return nil
}

func (l Loader) host(ctx context.Context, declared *evaluation.Evaluator, name string) (host evaluation.HostingCluster, err error) {
	cluster, err := l.Reader.Cluster(ctx, name)
	if err != nil || cluster == nil {
		return evaluation.HostingCluster{Missing: true}, err
	}
	host.Available = ClusterStatus(cluster)
	if l.Offline == evaluation.OfflineHold {
		host.Returned = returned(cluster)
	}
	if l.Memory != nil && l.Offline == evaluation.OfflineHold {
		host.Back = l.Memory.Back(name, host.Available)
	}
	host.Facts, err = l.Reader.Facts(ctx, declared.Catalog, name)
	return host, err
}
