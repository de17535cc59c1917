package hubcache

import (
	"context"
	"fmt"
	"unique"

	toolscache "k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// The indexes of ManagedClusterAddOns, and the first one also of AddOnInstallations.
const (
	// IndexName finds the add-ons of one name in all clusters.
	IndexName = "metadata.name"
	// IndexConfig finds the add-ons that refer to an AddOnDeploymentConfig, by its key.
	IndexConfig = "status.configReferences"
	// IndexTemplate finds the add-ons that run an AddOnTemplate, are about to, or have it wait, by its name.
	IndexTemplate = "status.configReferences.addontemplates"
	// IndexHosting finds the add-ons of other managed clusters whose agents a managed cluster runs, by its name.
	IndexHosting = "metadata.annotations.hosting-cluster-name"
)

// Index does what the cache's IndexField does, except for a second entry of each
// add-on under its own namespace. No read uses these. 100,000 add-ons take 99 MiB of
// the heap without them and 164 MiB with them (BenchmarkMemory). The cache looks for indexes of these names.
func Index(ctx context.Context, c cache.Cache) error {
	informer, err := c.GetInformer(ctx, &addonv1alpha1.ManagedClusterAddOn{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	return informer.AddIndexers(toolscache.Indexers{
		"field:" + IndexName:     inAllNamespaces(func(addOn client.Object) []string { return []string{addOn.GetName()} }),
		"field:" + IndexConfig:   inAllNamespaces(ConfigKeys),
		"field:" + IndexTemplate: inAllNamespaces(TemplateNames),
		"field:" + IndexHosting:  inAllNamespaces(HostingClusters),
	})
}

// IndexInstallations adds IndexName to the cache of AddOnInstallations.
func IndexInstallations(ctx context.Context, c cache.Cache) error {
	informer, err := c.GetInformer(ctx, &dependencyv1alpha1.AddOnInstallation{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	return informer.AddIndexers(toolscache.Indexers{
		"field:" + IndexName: inAllNamespaces(func(object client.Object) []string { return []string{object.GetName()} }),
	})
}

func inAllNamespaces(values func(client.Object) []string) toolscache.IndexFunc {
	return func(object any) ([]string, error) {
		addOn, ok := object.(client.Object)
		if !ok {
			return nil, fmt.Errorf("a %T cannot be indexed", object)
		}
		indexed := values(addOn)
		for i, value := range indexed {
			indexed[i] = unique.Make("__all_namespaces/" + value).Value()
		}
		return indexed, nil
	}
}

// IndexPlacement finds the PlacementDecisions of a Placement, by its key. Each has at most 100
// managed clusters. By these, the index would have an entry for each Placement and cluster.
const IndexPlacement = "metadata.labels.placement"

// DecisionIndexers are the indexers of PlacementDecisions.
func DecisionIndexers() toolscache.Indexers {
	return toolscache.Indexers{"field:" + IndexPlacement: inAllNamespaces(func(object client.Object) []string {
		return []string{fleet.PlacementOf(object.(*clusterv1beta1.PlacementDecision)).String()}
	})}
}

// ConfigKeys are the values of IndexConfig.
func ConfigKeys(addOn client.Object) []string {
	key, refers := fleet.ConfigOf(addOn.(*addonv1alpha1.ManagedClusterAddOn))
	if !refers {
		return nil
	}
	return []string{key.String()}
}

// TemplateNames are the values of IndexTemplate.
func TemplateNames(object client.Object) []string {
	var names []string
	addOn := object.(*addonv1alpha1.ManagedClusterAddOn)
	templates := fleet.TemplatesOf(addOn)
	for _, name := range []string{templates.Running, templates.RollingOut, fleet.WaitingTemplate(addOn)} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// HostingClusters are the values of IndexHosting. Few add-ons have one.
func HostingClusters(object client.Object) []string {
	if addOn := object.(*addonv1alpha1.ManagedClusterAddOn); fleet.Hosted(addOn) {
		return []string{fleet.HostingCluster(addOn)}
	}
	return nil
}
