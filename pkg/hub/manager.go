// Package hub assembles addon-manager: the controllers that run on the hub.
package hub

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	conditionwriter "open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/contention"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/hub/agentaddon"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/degraded"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
	"open-cluster-management.io/interlock/pkg/hub/graft"
	"open-cluster-management.io/interlock/pkg/hub/guard"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/ocmversion"
	"open-cluster-management.io/interlock/pkg/hub/outage"
	"open-cluster-management.io/interlock/pkg/hub/templateversion"
	"open-cluster-management.io/interlock/pkg/metricsserver"
)

const (
	leaderElectionID = "interlock-addon-manager"
	// cacheSyncTimeout: a hub that is away is waited for. There is no value for
	// "forever"; giving up would end the process and change nothing.
	cacheSyncTimeout = 10 * 365 * 24 * time.Hour
)

// Options configure addon-manager.
type Options struct {
	LeaderElection          bool
	LeaderElectionNamespace string
	MetricsAddress          string
	// MetricsSecure serves them over TLS, to those who may read them.
	MetricsSecure bool
	HealthAddress string
	// ProfileAddress serves profiles in pprof's format; "0" or empty for none.
	ProfileAddress string
	// Offline says what becomes of verdicts on clusters that are lost.
	Offline evaluation.OfflinePolicy
	// Concurrency is how many add-ons are evaluated and written at a time.
	Concurrency int
	// Guard says which form of the guard is in force; empty leaves alone
	// whatever is there.
	Guard guard.Mode
	// GuardServed says how to find out where the guard is served as a webhook.
	GuardServed guard.Served
	GuardTiming guard.Timing
	// Graft says whether the CRD of ClusterManagementAddOns is grafted; nil
	// leaves it alone.
	Graft *graft.Settings
	// Agent says how addon-agent is installed on the managed clusters; nil
	// leaves alone whatever is there.
	Agent *agentaddon.Options
	// Registry takes the metrics of the controllers; nil for the one that
	// MetricsAddress serves. A process with several managers gives each its own.
	Registry prometheus.Registerer
}

func (o Options) registry() prometheus.Registerer {
	if o.Registry != nil {
		return o.Registry
	}
	return ctrlmetrics.Registry
}

// NewManager returns a manager with all controllers of addon-manager set up,
// ready to be started. It does not talk to the hub yet.
func NewManager(restConfig *rest.Config, options Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		return nil, err
	}
	restConfig = rest.CopyConfig(restConfig)
	restConfig.QPS = -1 // the API server's priority and fairness limits us
	rereader, cacheOptions := graft.NewRereader(), fleet.CacheOptions()
	cacheOptions.NewInformer = rereader.NewInformer
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                        scheme,
		MapperProvider:                fleet.Mapper,
		Cache:                         cacheOptions,
		NewCache:                      fleet.NewCache,
		Metrics:                       metricsserver.Options(options.MetricsAddress, options.MetricsSecure),
		HealthProbeBindAddress:        options.HealthAddress,
		PprofBindAddress:              options.ProfileAddress,
		LeaderElection:                options.LeaderElection,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       options.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		Controller: config.Controller{
			CacheSyncTimeout: cacheSyncTimeout,
			// Until the release of controller-runtime that has its pull request
			// 3540, the priority queue can deadlock at shutdown: whoever is to lead
			// next would wait for the whole grace period.
			UsePriorityQueue:   ptr.To(false),
			SkipNameValidation: ptr.To(options.Registry != nil), // names are unique per manager, not per process
		},
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	warmup := fleet.NewWarmup(mgr.GetCache(), restConfig.Host)
	if err := mgr.Add(warmup); err != nil {
		return nil, fmt.Errorf("add warm-up of the cache: %w", err)
	}
	hidden, err := setupGraft(mgr, rereader, options)
	if err != nil {
		return nil, err
	}
	if err := setupControllers(mgr, warmup, options, rereader.Told, hidden); err != nil {
		return nil, err
	}
	if err := setupGuard(mgr, options); err != nil {
		return nil, err
	}
	if options.Agent != nil {
		if err := agentaddon.SetupWithManager(mgr, *options.Agent); err != nil {
			return nil, err
		}
	}
	return mgr, setupProbes(mgr, warmup)
}

// eventSource is who tells events.
const eventSource = "interlock-addon-manager"

func setupControllers(mgr ctrl.Manager, warmup *fleet.Warmup, options Options,
	reread <-chan event.GenericEvent, hidden func() bool,
) error {
	reader := fleet.Reader{Reader: mgr.GetCache()}
	store := declarations.NewStore()
	recorder := mgr.GetEventRecorder(eventSource)
	measured := metrics.New(options.registry())
	waker, outages := degraded.NewWaker(), outage.New(clock.RealClock{})

	asking, answers, err := setupFacts(mgr, &facts.Reconciler{
		Fleet: reader, Declarations: store, Contention: contention.New(clock.RealClock{}),
		Signs:   facts.SignsOfLife{Fleet: reader, Outages: outages, Silent: outage.New(clock.RealClock{})},
		Metrics: measured, Recorder: recorder, Wake: waker.Wake,
	})
	if err != nil {
		return err
	}
	err = (&declarations.Reconciler{
		Fleet: reader, Prepared: warmup.Prepared(), Store: store, Metrics: measured, Recorder: recorder,
		Wake:      both(waker.Wake, asking.Wake),
		WakeFirst: func(catalog *evaluation.Evaluator, addOn string) bool { return !catalog.Requests(addOn).Empty() },
		Reread:    reread, Hidden: hidden,
	}).SetupWithManager(mgr)
	if err != nil {
		return err
	}
	waking := waking{fleet: reader, store: store, wake: waker.Wake}
	configs, err := watchConfigs(mgr, warmup.Synced(), waking)
	if err != nil {
		return err
	}
	ocm, err := ocmversion.SetupWithManager(mgr, waking.users(input.OCM))
	if err != nil {
		return err
	}
	templates, err := templateversion.SetupWithManager(mgr, waking.users(input.Versions), waking.templated)
	if err != nil {
		return err
	}
	return (&degraded.Reconciler{
		Clock: clock.RealClock{}, Fleet: reader, Declarations: store,
		Writer:     conditionwriter.Writer{Status: mgr.GetClient(), Live: mgr.GetAPIReader()},
		Contention: contention.New(clock.RealClock{}), Metrics: measured, Recorder: recorder, Offline: options.Offline,
		EventPace: degraded.NewEventPace(), Outages: outages,
		Configs: configs, OCM: ocm, Templates: templates, Facts: answers, Registrations: mgr.GetAPIReader(),
	}).SetupWithManager(mgr, waker, options.Concurrency)
}

func setupGuard(mgr ctrl.Manager, options Options) error {
	if options.Guard == "" {
		return nil
	}
	served, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create discovery client: %w", err)
	}
	return (&guard.Installer{
		Mode: options.Guard, Served: options.GuardServed, Timing: options.GuardTiming,
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Discovery: served,
		Clock: clock.RealClock{}, Metrics: guard.NewMetrics(options.registry()),
	}).SetupWithManager(mgr)
}

// setupGraft returns what says whether declarations by field can be read.
func setupGraft(mgr ctrl.Manager, rereader *graft.Rereader, options Options) (hidden func() bool, err error) {
	if options.Graft == nil {
		return nil, nil
	}
	if options.Graft.On {
		if err := rereader.SetupWithManager(mgr); err != nil {
			return nil, err
		}
	}
	grafter := &graft.Reconciler{
		Settings: *options.Graft, Client: mgr.GetClient(), Clock: clock.RealClock{}, Rereader: rereader,
		Recorder: mgr.GetEventRecorder(eventSource), Metrics: metrics.NewGraft(options.registry()),
	}
	return grafter.Hidden, grafter.SetupWithManager(mgr)
}

// setupProbes: alive while the process answers; ready once its cache has synced,
// on a replica that waits for its turn to lead as well.
func setupProbes(mgr ctrl.Manager, warmup *fleet.Warmup) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("cache", readyOnce(warmup.Synced())); err != nil {
		return fmt.Errorf("add readiness probe: %w", err)
	}
	return nil
}
