package agentaddon

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"open-cluster-management.io/addon-framework/pkg/index"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	addonclient "open-cluster-management.io/api/client/addon/clientset/versioned"
	addoninformers "open-cluster-management.io/api/client/addon/informers/externalversions"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	workinformers "open-cluster-management.io/api/client/work/informers/externalversions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// noResync: everything that has to be done again is woken by a change.
const noResync time.Duration = 0

// caches are the informers that addon-framework's controllers read from,
// limited to this one add-on: of the hub's other add-ons nothing is kept.
type caches struct {
	kube     kubernetes.Interface
	work     workclient.Interface
	addOns   addoninformers.SharedInformerFactory
	clusters clusterinformers.SharedInformerFactory
	works    workinformers.SharedInformerFactory
	requests kubeinformers.SharedInformerFactory
	configs  dynamicinformer.DynamicSharedInformerFactory
}

func newCaches(hub *rest.Config) (*caches, error) {
	kube, err := kubernetes.NewForConfig(hub)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	addOns, err := addonclient.NewForConfig(hub)
	if err != nil {
		return nil, fmt.Errorf("create client of add-ons: %w", err)
	}
	clusters, err := clusterclient.NewForConfig(hub)
	if err != nil {
		return nil, fmt.Errorf("create client of clusters: %w", err)
	}
	work, err := workclient.NewForConfig(hub)
	if err != nil {
		return nil, fmt.Errorf("create client of works: %w", err)
	}
	configs, err := dynamic.NewForConfig(hub)
	if err != nil {
		return nil, fmt.Errorf("create client of configurations: %w", err)
	}
	byName := func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, Name).String()
	}
	byLabel := func(options *metav1.ListOptions) { options.LabelSelector = addonv1beta1.AddonLabelKey + "=" + Name }
	return &caches{
		kube: kube, work: work,
		addOns: addoninformers.NewSharedInformerFactoryWithOptions(addOns, noResync,
			addoninformers.WithTweakListOptions(byName), addoninformers.WithTransform(lean)),
		clusters: clusterinformers.NewSharedInformerFactoryWithOptions(clusters, noResync, clusterinformers.WithTransform(lean)),
		works: workinformers.NewSharedInformerFactoryWithOptions(work, noResync,
			workinformers.WithTweakListOptions(byLabel), workinformers.WithTransform(lean)),
		requests: kubeinformers.NewSharedInformerFactoryWithOptions(kube, noResync,
			kubeinformers.WithTweakListOptions(byLabel), kubeinformers.WithTransform(lean)),
		configs: dynamicinformer.NewDynamicSharedInformerFactory(configs, noResync),
	}, nil
}

// lean drops what nobody reads: who owns which field, and of a managed cluster
// and a work all but what decides where the agent runs and whether it does.
func lean(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	switch full := object.(type) {
	case *clusterv1.ManagedCluster:
		kept := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion, DeletionTimestamp: full.DeletionTimestamp,
		}}
		const key = clusterv1.ClusterImageRegistriesAnnotationKey
		if registries, ok := full.Annotations[key]; ok {
			kept.Annotations = map[string]string{key: registries}
		}
		return kept, nil
	case *workv1.ManifestWork:
		full.Status.ResourceStatus = workv1.ManifestResourceStatus{}
	}
	return object, nil
}

// sync starts the informers and waits until each has synced. It must have come
// about before addon-framework's controllers run, because they end the process
// when they have waited for ten minutes. It fails only when the context ends.
func (c *caches) sync(ctx context.Context) error {
	addOns, registrations := c.addOns.Addon().V1beta1().ManagedClusterAddOns().Informer(), c.addOns.Addon().V1beta1().ClusterManagementAddOns().Informer()
	works, configs := c.works.Work().V1().ManifestWorks().Informer(), c.configs.ForResource(configResource).Informer()
	for informer, indexers := range map[toolscache.SharedIndexInformer]toolscache.Indexers{
		works: {
			index.ManifestWorkByAddon:           index.IndexManifestWorkByAddon,
			index.ManifestWorkByHostedAddon:     index.IndexManifestWorkByHostedAddon,
			index.ManifestWorkHookByHostedAddon: index.IndexManifestWorkHookByHostedAddon,
		},
		addOns: {
			index.ManagedClusterAddonByNamespace: index.IndexManagedClusterAddonByNamespace,
			index.AddonByConfig:                  index.IndexAddonByConfig,
		},
		registrations: {index.ClusterManagementAddonByConfig: index.IndexClusterManagementAddonByConfig},
	} {
		if err := informer.AddIndexers(indexers); err != nil {
			return fmt.Errorf("index: %w", err)
		}
	}
	if err := configs.SetTransform(lean); err != nil {
		return fmt.Errorf("limit the cache of configurations: %w", err)
	}
	synced := []toolscache.InformerSynced{
		addOns.HasSynced, registrations.HasSynced, works.HasSynced, configs.HasSynced,
		c.clusters.Cluster().V1().ManagedClusters().Informer().HasSynced,
		c.requests.Certificates().V1().CertificateSigningRequests().Informer().HasSynced,
	}
	for _, factory := range []interface{ Start(<-chan struct{}) }{c.addOns, c.clusters, c.works, c.requests, c.configs} {
		factory.Start(ctx.Done())
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), synced...) {
		return ctx.Err()
	}
	return nil
}

// Get implements utils.AddOnDeploymentConfigGetter from the cache.
func (c *caches) Get(_ context.Context, namespace, name string) (*addonv1beta1.AddOnDeploymentConfig, error) {
	object, err := c.configs.ForResource(configResource).Lister().ByNamespace(namespace).Get(name)
	if err != nil {
		return nil, err
	}
	stored, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("read AddOnDeploymentConfig %s/%s: it is cached as a %T", namespace, name, object)
	}
	config := &addonv1beta1.AddOnDeploymentConfig{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, config); err != nil {
		return nil, fmt.Errorf("read AddOnDeploymentConfig %s/%s: %w", namespace, name, err)
	}
	return config, nil
}
