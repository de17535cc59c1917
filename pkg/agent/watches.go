package agent

import (
	"cmp"
	"fmt"

	"k8s.io/client-go/discovery"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"open-cluster-management.io/interlock/pkg/agent/addons"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/objectcount"
	"open-cluster-management.io/interlock/pkg/agent/ownlease"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/names"
)

// Clusters are the API servers that the agent uses.
type Clusters struct {
	Hub *rest.Config
	// Managed is the cluster where add-ons keep their leases.
	Managed *rest.Config
	// Hosting is the cluster where hosted add-ons keep their leases. It is nil if that is the managed cluster.
	Hosting *rest.Config
	// Leases, if set, replaces the leases of both clusters: a simulation keeps them in memory.
	Leases coordinationv1client.LeasesGetter
}

// hosting is the cluster on which the agent runs, and where hosted add-ons keep their
// leases.
func (c Clusters) hosting() *rest.Config { return cmp.Or(c.Hosting, c.Managed) }

// unthrottled leaves limits to the API server's priority and fairness. A limit in the
// client would delay changes.
func unthrottled(config *rest.Config) *rest.Config {
	unlimited := rest.CopyConfig(config)
	unlimited.QPS = -1
	unlimited.UserAgent = names.AddonAgent
	return unlimited
}

// watches are the watchers and caches that the agent has besides the add-ons on the hub.
type watches struct {
	leases *leases.Watcher
	apis   *apidiscovery.Watcher
	// objects are not watched, but counted at intervals.
	objects *objectcount.Counter
	// facts is a cache of its own: the hub may lack the CRD of ManagedClusterFacts, and
	// then this cache does not sync.
	facts cache.Cache
}

// addWatches adds the watches to the manager.
func addWatches(mgr ctrl.Manager, clusters Clusters, options Options, triggers triggers) (watches, error) {
	leaseWatcher, err := newLeaseWatcher(clusters, triggers)
	if err != nil {
		return watches{}, err
	}
	apiWatcher, counter, err := newAPIWatcher(clusters, triggers)
	if err != nil {
		return watches{}, err
	}
	factsCache, err := cache.New(mgr.GetConfig(), addons.FactsCacheOptions(mgr, options.Cluster))
	if err != nil {
		return watches{}, fmt.Errorf("create cache of ManagedClusterFacts: %w", err)
	}
	for _, watch := range []manager.Runnable{leaseWatcher, apiWatcher, counter, factsCache} {
		if err := mgr.Add(watch); err != nil {
			return watches{}, fmt.Errorf("add %T: %w", watch, err)
		}
	}
	return watches{leases: leaseWatcher, apis: apiWatcher, objects: counter, facts: factsCache}, nil
}

func newLeaseWatcher(clusters Clusters, triggers triggers) (*leases.Watcher, error) {
	versionChanged := func(string) { triggers.enqueueFacts() }
	if clusters.Leases != nil {
		return leases.New(clusters.Leases, clusters.Leases, triggers.enqueueAddOn, versionChanged), nil
	}
	managed, err := coordinationv1client.NewForConfig(unthrottled(clusters.Managed))
	if err != nil {
		return nil, fmt.Errorf("create client of the managed cluster: %w", err)
	}
	hosting, err := coordinationv1client.NewForConfig(unthrottled(clusters.hosting()))
	if err != nil {
		return nil, fmt.Errorf("create client of the hosting cluster: %w", err)
	}
	return leases.New(managed, hosting, triggers.enqueueAddOn, versionChanged), nil
}

// newAPIWatcher returns the watcher of the managed cluster's APIs, and the counter of their objects.
func newAPIWatcher(clusters Clusters, triggers triggers) (*apidiscovery.Watcher, *objectcount.Counter, error) {
	config := unthrottled(clusters.Managed)
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("create metadata client of the managed cluster: %w", err)
	}
	documents, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("create discovery client of the managed cluster: %w", err)
	}
	watcher := apidiscovery.New(objects, apidiscovery.API{REST: documents.RESTClient(), Client: "addon-agent"}, triggers.enqueueFacts)
	return watcher, objectcount.New(objects, triggers.enqueueFacts), nil
}

// addOwnLease renews the agent's own lease where the agent runs, like every add-on. It returns nil if the agent has no lease of its
// own.
func addOwnLease(mgr ctrl.Manager, clusters Clusters, options Options, synced <-chan struct{}) (*ownlease.Renewer, error) {
	if options.OwnLease.Name == "" {
		return nil, nil
	}
	client, err := coordinationv1client.NewForConfig(unthrottled(clusters.hosting()))
	if err != nil {
		return nil, fmt.Errorf("create client of the agent's own lease: %w", err)
	}
	renewer := &ownlease.Renewer{
		Clock: clock.RealClock{}, Leases: client, Lease: options.OwnLease, Synced: synced,
		Hub: mgr.GetAPIReader(), Cluster: options.Cluster,
	}
	if err := mgr.Add(renewer); err != nil {
		return nil, fmt.Errorf("add renewal of the agent's own lease: %w", err)
	}
	return renewer, nil
}
