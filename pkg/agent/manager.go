// Package agent assembles addon-agent, the program that runs on each managed cluster.
package agent

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/agent/addonevents"
	"open-cluster-management.io/interlock/pkg/agent/addons"
	"open-cluster-management.io/interlock/pkg/agent/agentmetrics"
	"open-cluster-management.io/interlock/pkg/agent/available"
	"open-cluster-management.io/interlock/pkg/agent/factreport"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/kube/warmup"
)

// Options configure addon-agent.
type Options struct {
	// Cluster is the name of the managed cluster, and of its namespace on the hub.
	Cluster string
	// GracePeriod is how long a lease may go without being renewed.
	GracePeriod time.Duration
	// OwnLease is the lease that the agent renews for itself. Without a name, it renews none.
	OwnLease       types.NamespacedName
	MetricsAddress string
	// MetricsSecure serves metrics over TLS, to clients that may read them on the
	// managed cluster.
	MetricsSecure bool
	HealthAddress string
	// Registry takes the agent's metrics.
	Registry prometheus.Registerer
	// Unnamed lets several agents run in one process, as tests do.
	Unnamed bool
}

// NewManager returns a manager with all of addon-agent set up, ready to be started. It
// sends no request to any of the clusters yet.
func NewManager(clusters Clusters, options Options) (ctrl.Manager, error) {
	mgr, err := newManager(clusters, options)
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	triggers := triggers{cluster: options.Cluster, available: trigger.New(), facts: trigger.New()}
	watches, err := addWatches(mgr, clusters, options, triggers)
	if err != nil {
		return nil, err
	}
	if err := setupControllers(mgr, watches, options, triggers); err != nil {
		return nil, err
	}
	warm := warmup.New(warmup.Warmup{
		Cache: mgr.GetCache(), Hub: mgr.GetConfig().Host, Objects: []client.Object{&addonv1alpha1.ManagedClusterAddOn{}},
		Waiting: "Waiting for the hub: its add-ons and clusters could not be read yet; are Open Cluster Management's CRDs installed?",
	})
	if err := mgr.Add(warm); err != nil {
		return nil, fmt.Errorf("add warm-up of the cache: %w", err)
	}
	ownLease, err := addOwnLease(mgr, clusters, options, warm.Synced())
	if err != nil {
		return nil, err
	}
	return mgr, setupProbes(mgr, warm, ownLease)
}

func newManager(clusters Clusters, options Options) (ctrl.Manager, error) {
	scheme, err := addons.Scheme()
	if err != nil {
		return nil, fmt.Errorf("register types: %w", err)
	}
	return ctrl.NewManager(unthrottled(clusters.Hub), ctrl.Options{
		Scheme:                 scheme,
		MapperProvider:         addons.Mapper,
		Cache:                  addons.CacheOptions(options.Cluster),
		Metrics:                metricsserver.OptionsOn(clusters.Managed, options.MetricsAddress, options.MetricsSecure),
		HealthProbeBindAddress: options.HealthAddress,
		// No leader election: it would need a lease on the hub, and two agents of one
		// cluster make the same decisions.
		LeaderElection: false,
		Controller:     controllers.Config(options.Unnamed),
	})
}

// triggers are how the watches enqueue keys in the controllers. Each controller also
// watches the ManagedClusterAddOns of the cluster, and facts its ManagedClusterFacts.
//
//	lease of an add-on changed ──────────────→ available
//	version in such a lease changed ─────────→ facts
//	APIs of the managed cluster changed ─────→ facts
//	number of its objects changed ───────────→ facts
type triggers struct {
	cluster          string
	available, facts *trigger.Trigger
}

// enqueueAddOn enqueues an add-on in the available controller.
func (t triggers) enqueueAddOn(addOn string) {
	t.available.Enqueue(types.NamespacedName{Namespace: t.cluster, Name: addOn})
}

// enqueueFacts enqueues the cluster in the facts controller.
func (t triggers) enqueueFacts() { t.facts.Enqueue(factsobject.Key(t.cluster)) }

func setupControllers(mgr ctrl.Manager, watches watches, options Options, triggers triggers) error {
	agentMetrics := agentmetrics.New(options.Registry)
	err := (&available.Reconciler{
		Clock: clock.RealClock{}, AddOns: mgr.GetCache(), Leases: watches.leases,
		Writer:  conditionwriter.Writer{Status: mgr.GetClient(), Live: mgr.GetAPIReader()},
		Backoff: backoff.New(clock.RealClock{}), Metrics: agentMetrics,
		Events:      addonevents.NewRecorder(clock.RealClock{}, mgr.GetClient(), options.Cluster),
		GracePeriod: options.GracePeriod, Trigger: triggers.available,
	}).SetupWithManager(mgr)
	if err != nil {
		return err
	}
	return (&factreport.Reconciler{
		Clock: clock.RealClock{}, Cluster: options.Cluster, AgentAddOn: options.OwnLease.Name,
		Facts: watches.facts, AddOns: mgr.GetCache(), APIs: watches.apis, Leases: watches.leases, Objects: watches.objects,
		Status: mgr.GetClient(), Backoff: backoff.New(clock.RealClock{}), Metrics: agentMetrics,
		Trigger: triggers.facts,
	}).SetupWithManager(mgr)
}
