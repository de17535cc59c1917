package agent

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"open-cluster-management.io/interlock/pkg/agent/facts"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/metrics"
	"open-cluster-management.io/interlock/pkg/agent/served"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/factsinformer"
)

// factsRetry: an older hub has no ManagedClusterFacts, and thousands of agents
// that look for them.
const factsRetry = 5 * time.Minute

// setupFacts has the agent answer what the hub asks about the cluster.
func setupFacts(
	mgr ctrl.Manager, clusters Clusters, options Options, waker *facts.Waker, versions *leases.Watcher, measured *metrics.Metrics,
) error {
	apis, err := newServed(clusters, waker)
	if err != nil {
		return err
	}
	hub, err := client.NewWithWatch(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return fmt.Errorf("create client of the hub: %w", err)
	}
	questions := factsinformer.New(hub, factsinformer.Options{
		Only:      types.NamespacedName{Namespace: options.Cluster, Name: options.Cluster},
		RetryLast: cmp.Or(options.FactsRetry, factsRetry),
		Changed:   func(_, _ *factsinformer.Facts) { waker.Wake() },
		Turned:    func(factsinformer.State) { waker.Wake() },
	})
	for _, runnable := range []manager.Runnable{apis, questions} {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("add %T: %w", runnable, err)
		}
	}
	return (&facts.Reconciler{
		Clock: clock.RealClock{}, Cluster: options.Cluster, AddOn: options.OwnLease.Name, Questions: questions, AddOns: mgr.GetCache(), APIs: apis, Leases: versions,
		Status: mgr.GetClient(), Contention: backoff.New(clock.RealClock{}), Metrics: measured,
	}).SetupWithManager(mgr, waker)
}

func newServed(clusters Clusters, waker *facts.Waker) (*served.Watcher, error) {
	config := unthrottled(clusters.Managed)
	definitions, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create metadata client of the managed cluster: %w", err)
	}
	discovering, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create discovery client of the managed cluster: %w", err)
	}
	return served.New(definitions, discovering.RESTClient(), waker.Wake), nil
}
