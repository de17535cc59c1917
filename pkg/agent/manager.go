// Package agent assembles addon-agent: what runs on each managed cluster.
package agent

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"open-cluster-management.io/interlock/pkg/agent/addons"
	"open-cluster-management.io/interlock/pkg/agent/available"
	"open-cluster-management.io/interlock/pkg/agent/facts"
	"open-cluster-management.io/interlock/pkg/agent/heartbeat"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/metrics"
	"open-cluster-management.io/interlock/pkg/agent/notes"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
)

const userAgent = "interlock-addon-agent"

// Clusters are the API servers that the agent talks to.
type Clusters struct {
	Hub *rest.Config
	// Managed is where add-ons keep their leases.
	Managed *rest.Config
	// Hosting is where hosted add-ons do; nil if that is the managed cluster.
	Hosting *rest.Config
	// Leases, where set, are those of both: a simulation keeps leases in memory.
	Leases coordinationv1client.LeasesGetter
}

// Options configure addon-agent.
type Options struct {
	// Cluster is the name of the managed cluster, and of its namespace on the hub.
	Cluster string
	// GracePeriod is how long a lease may go without being renewed.
	GracePeriod time.Duration
	// OwnLease is the lease that the agent renews for itself; without a name none.
	OwnLease       types.NamespacedName
	MetricsAddress string
	HealthAddress  string
	// FactsRetry is how long it may take until the agent notices that the hub
	// asks it about its cluster, after it did not offer to; zero is for 5 minutes.
	FactsRetry time.Duration
	// Registry takes the agent's metrics.
	Registry prometheus.Registerer
	// Unnamed lets several agents run in one process, as tests do.
	Unnamed bool
}

// NewManager returns a manager with all of addon-agent set up, ready to be
// started. It does not talk to any of the clusters yet.
func NewManager(clusters Clusters, options Options) (ctrl.Manager, error) {
	scheme, err := addons.Scheme()
	if err != nil {
		return nil, fmt.Errorf("register types: %w", err)
	}
	mgr, err := ctrl.NewManager(unthrottled(clusters.Hub), ctrl.Options{
		Scheme:                 scheme,
		MapperProvider:         addons.Mapper,
		Cache:                  addons.CacheOptions(options.Cluster),
		Metrics:                server.Options{BindAddress: options.MetricsAddress},
		HealthProbeBindAddress: options.HealthAddress,
		// No leader election: it would take a lease on the hub, and two agents
		// for one cluster decide the same.
		LeaderElection: false,
		Controller: config.Controller{
			SkipNameValidation: &options.Unnamed,
			UsePriorityQueue:   ptr.To(false), // it can deadlock at shutdown, see pkg/hub
		},
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	waker, asked := available.NewWaker(options.Cluster), facts.NewWaker(options.Cluster)
	watcher, err := newWatcher(clusters, waker, asked)
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(watcher); err != nil {
		return nil, fmt.Errorf("add watcher of leases: %w", err)
	}
	measured := metrics.New(options.Registry)
	err = (&available.Reconciler{
		Clock: clock.RealClock{}, AddOns: mgr.GetCache(), Leases: watcher,
		Writer:     condition.Writer{Status: mgr.GetClient(), Live: mgr.GetAPIReader()},
		Contention: backoff.New(clock.RealClock{}), Metrics: measured,
		Notes: notes.New(clock.RealClock{}, mgr.GetClient(), options.Cluster), GracePeriod: options.GracePeriod,
	}).SetupWithManager(mgr, waker)
	if err != nil {
		return nil, err
	}
	if err := setupOwnLease(mgr, clusters, options.OwnLease); err != nil {
		return nil, err
	}
	if err := setupFacts(mgr, clusters, options, asked, watcher, measured); err != nil {
		return nil, err
	}
	return mgr, setupProbes(mgr)
}

// setupOwnLease has the agent report like the add-on that it is, where it runs.
func setupOwnLease(mgr ctrl.Manager, clusters Clusters, lease types.NamespacedName) error {
	if lease.Name == "" {
		return nil
	}
	on := clusters.Managed
	if clusters.Hosting != nil {
		on = clusters.Hosting
	}
	client, err := coordinationv1client.NewForConfig(unthrottled(on))
	if err != nil {
		return fmt.Errorf("create client of the own lease: %w", err)
	}
	err = mgr.Add(&heartbeat.Heartbeat{Clock: clock.RealClock{}, Leases: client, Lease: lease, AddOns: mgr.GetCache()})
	if err != nil {
		return fmt.Errorf("add renewal of the own lease: %w", err)
	}
	return nil
}

func newWatcher(clusters Clusters, waker *available.Waker, asked *facts.Waker) (*leases.Watcher, error) {
	if clusters.Leases != nil {
		return leases.New(clusters.Leases, clusters.Leases, waker.Wake, func(string) { asked.Wake() }), nil
	}
	managed, err := coordinationv1client.NewForConfig(unthrottled(clusters.Managed))
	if err != nil {
		return nil, fmt.Errorf("create client of the managed cluster: %w", err)
	}
	hosting := managed
	if clusters.Hosting != nil {
		if hosting, err = coordinationv1client.NewForConfig(unthrottled(clusters.Hosting)); err != nil {
			return nil, fmt.Errorf("create client of the hosting cluster: %w", err)
		}
	}
	return leases.New(managed, hosting, waker.Wake, func(string) { asked.Wake() }), nil
}

// unthrottled leaves the limits to the API server's priority and fairness: a
// change that waits in the client is one that the hub hears of late.
func unthrottled(given *rest.Config) *rest.Config {
	own := rest.CopyConfig(given)
	own.QPS = -1
	own.UserAgent = userAgent
	return own
}
