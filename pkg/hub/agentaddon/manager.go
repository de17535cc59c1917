package agentaddon

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"open-cluster-management.io/addon-framework/pkg/addonmanager"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Options say what is deployed where.
type Options struct {
	// Image of addon-agent.
	Image string
	// Placement selects the managed clusters; without a name none are selected,
	// and clusters get the add-on by a ManagedClusterAddOn that somebody makes.
	Placement types.NamespacedName
}

// SetupWithManager has the manager's leader install addon-agent as an add-on.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	if err := (&registrar{client: mgr.GetClient(), live: mgr.GetAPIReader(), placement: options.Placement}).setupWithManager(mgr); err != nil {
		return err
	}
	if err := mgr.Add(&deployer{hub: mgr.GetConfig(), image: options.Image, clock: clock.RealClock{}}); err != nil {
		return fmt.Errorf("add the agent's deployer: %w", err)
	}
	return nil
}

// deployer runs addon-framework's controllers for the one add-on: they have
// its ManifestWorks made, its certificates approved and its health looked
// after, all by OCM's own means.
type deployer struct {
	hub   *rest.Config
	image string
	clock clock.Clock
}

// Start implements manager.Runnable. It waits for a hub that is away or does
// not serve all that is needed, as long as it takes.
func (d *deployer) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithName("agent-add-on"))
	served, err := discovery.NewDiscoveryClientForConfig(d.hub)
	if err != nil {
		return fmt.Errorf("create discovery client: %w", err)
	}
	caches, err := newCaches(d.hub)
	if err != nil {
		return err
	}
	if err := awaitServed(ctx, d.clock, served); err != nil {
		return nil //nolint:nilerr // only when the process is to end
	}
	if err := caches.sync(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := d.run(ctx, caches); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (d *deployer) run(ctx context.Context, caches *caches) error {
	framework := addonmanager.NewBaseAddonManagerImpl(d.hub)
	if err := framework.AddAgent(&addOn{image: d.image, hub: caches.kube, configs: caches}); err != nil {
		return fmt.Errorf("register the agent with addon-framework: %w", err)
	}
	err := framework.StartWithInformers(ctx, caches.work, caches.works.Work().V1().ManifestWorks(),
		caches.requests, caches.addOns, caches.clusters, caches.configs)
	if err != nil {
		return fmt.Errorf("start addon-framework: %w", err)
	}
	if err := triggerOnNewClusters(caches, framework.Trigger); err != nil {
		return err
	}
	log.FromContext(ctx).Info("addon-agent is deployed where its add-on is installed", "image", d.image)
	return nil
}

// triggerOnNewClusters has an add-on looked at again when the cluster that it
// is about, or that hosts it, becomes known after it: addon-framework does
// nothing until then and would look again only after a while.
func triggerOnNewClusters(caches *caches, trigger func(cluster, addOn string)) error {
	addOns := caches.addOns.Addon().V1beta1().ManagedClusterAddOns().Informer().GetStore()
	_, err := caches.clusters.Cluster().V1().ManagedClusters().Informer().AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			cluster, ok := object.(*clusterv1.ManagedCluster)
			if !ok || initial {
				return
			}
			for _, stored := range addOns.List() {
				installed, ok := stored.(*addonv1beta1.ManagedClusterAddOn)
				if ok && (installed.Namespace == cluster.Name || installed.Annotations[addonv1beta1.HostingClusterNameAnnotationKey] == cluster.Name) {
					trigger(installed.Namespace, installed.Name)
				}
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch for new managed clusters: %w", err)
	}
	return nil
}
