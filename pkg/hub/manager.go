// Package hub assembles addon-manager: the controllers that run on the hub.
package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/gaterule"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/compat/rule/installer"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/records"
	"open-cluster-management.io/interlock/pkg/hub/setup/agentaddon"
	"open-cluster-management.io/interlock/pkg/hub/setup/webhookca"
	"open-cluster-management.io/interlock/pkg/hub/status"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
	"open-cluster-management.io/interlock/pkg/kube/tlsconfig"
	"open-cluster-management.io/interlock/pkg/kube/warmup"
	"open-cluster-management.io/interlock/pkg/names"
)

// Options configure addon-manager.
type Options struct {
	LeaderElection          bool
	LeaderElectionNamespace string
	MetricsAddress          string
	// MetricsSecure serves metrics over TLS, to clients that may read them.
	MetricsSecure bool
	// TLS is the profile of the server of metrics.
	TLS           tlsconfig.Profile
	HealthAddress string
	// ProfileAddress serves profiles in pprof's format. "0" or an empty address turns it off.
	ProfileAddress string
	// Offline is the policy for verdicts on lost clusters.
	Offline evaluation.OfflinePolicy
	// Concurrency is the number of add-ons that are evaluated and written at a time.
	Concurrency int
	// Reports selects the edges in AddOnDependencyReports. If it is empty, there are no reports.
	Reports dependencyv1alpha1.ReportScope
	// Lifecycle lets Interlock open gates, install the gate rule, and install the dependencies of add-ons.
	Lifecycle bool
	// Guard is the form of the guard. If it is empty, an installed guard stays unchanged.
	Guard       installer.Mode
	GuardTiming installer.Timing
	// Graft has the settings for the graft of the CRD of ClusterManagementAddOns. If it is nil,
	// the CRD stays unchanged.
	Graft *graft.Settings
	// WebhookNamespace is the namespace of addon-manager webhook, whose CA is written to the
	// webhook configurations. If it is empty, no CA is written.
	WebhookNamespace string
	// RemovalDelay is the time that an add-on installed by Interlock has to be unused before it is removed.
	RemovalDelay time.Duration
	// Agent configures the management of addon-agent as an add-on. If it is nil, addon-agent is not managed.
	Agent *agentaddon.Options
	// Registry gets the metrics of the controllers. If it is nil, the registry behind MetricsAddress
	// gets them. A process with several managers gives each manager its own registry.
	Registry prometheus.Registerer
}

func (o Options) registry() prometheus.Registerer {
	if o.Registry != nil {
		return o.Registry
	}
	return ctrlmetrics.Registry
}

// lease returns the key of the lease for leader election.
func (o Options) lease() types.NamespacedName {
	return types.NamespacedName{Namespace: o.LeaderElectionNamespace, Name: names.AddonManager}
}

// NewManager returns a manager with all controllers of addon-manager, ready to be started.
// It does not connect to the hub yet.
func NewManager(restConfig *rest.Config, options Options) (ctrl.Manager, error) {
	mgr, election, err := newManager(restConfig, options)
	if err != nil {
		return nil, err
	}
	warm, err := setupWarmup(mgr)
	if err != nil {
		return nil, err
	}
	if err := showOnLease(mgr, options); err != nil {
		return nil, err
	}
	if err := setupGraft(mgr, options); err != nil {
		return nil, err
	}
	t := newTriggers()
	guarded := &status.Guarded{Fleet: hubcache.NewReader(mgr.GetCache()), Evaluate: t.evaluate}
	s, err := newShared(mgr, warm, options, t, guarded)
	if err != nil {
		return nil, err
	}
	s.election = election
	if err := setupControllers(mgr, s); err != nil {
		return nil, err
	}
	if err := setupGuard(mgr, options, guarded); err != nil {
		return nil, err
	}
	if err := setupWebhookCA(mgr, options); err != nil {
		return nil, err
	}
	if options.Agent != nil {
		if err := agentaddon.SetupWithManager(mgr, *options.Agent); err != nil {
			return nil, err
		}
	}
	return mgr, setupProbes(mgr, warm)
}

// newManager returns a manager without controllers, and the part of this process in the leader election.
func newManager(restConfig *rest.Config, options Options) (ctrl.Manager, leadership.Election, error) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		return nil, leadership.Election{}, err
	}
	restConfig = fleet.SkipUnread(restConfig)
	restConfig.QPS = -1 // the API server's priority and fairness limits us
	lock, err := leadership.NewLock(restConfig, options.lease())
	if err != nil {
		return nil, leadership.Election{}, err
	}
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                              scheme,
		MapperProvider:                      hubcache.Mapper,
		Cache:                               hubcache.Options(),
		NewCache:                            hubcache.New,
		Metrics:                             metricsserver.Options(options.MetricsAddress, options.MetricsSecure, options.TLS),
		HealthProbeBindAddress:              options.HealthAddress,
		PprofBindAddress:                    options.ProfileAddress,
		LeaderElection:                      options.LeaderElection,
		LeaderElectionResourceLockInterface: lock, // its identity is known here, so that a step can confirm that no other process leads
		LeaderElectionReleaseOnCancel:       true,
		Controller:                          controllers.Config(options.Registry != nil), // names are unique per manager, not per process
	})
	if err != nil {
		return nil, leadership.Election{}, fmt.Errorf("create manager: %w", err)
	}
	lock.LockConfig.EventRecorder = mgr.GetEventRecorderFor(lock.Identity()) //nolint:staticcheck // client-go's election has no other
	if !options.LeaderElection {
		return mgr, leadership.Election{}, nil
	}
	return mgr, leadership.ElectionBy(lock), nil
}

// setupWarmup registers the warm-up of the cache, and returns it.
func setupWarmup(mgr ctrl.Manager) (*warmup.Warmup, error) {
	warm := warmup.New(warmup.Warmup{
		Cache:   mgr.GetCache(),
		Hub:     mgr.GetConfig().Host,
		Waiting: "Waiting for the hub: its add-ons and clusters could not be read yet; are Open Cluster Management's CRDs installed?",
		Prepare: hubcache.Index,
		Objects: []client.Object{&addonv1alpha1.ClusterManagementAddOn{}, &addonv1alpha1.ManagedClusterAddOn{}, &clusterv1.ManagedCluster{}},
	})
	if err := mgr.Add(warm); err != nil {
		return nil, fmt.Errorf("add warm-up of the cache: %w", err)
	}
	return warm, nil
}

func setupGuard(mgr ctrl.Manager, options Options, guarded *status.Guarded) error {
	if options.Guard == "" {
		return nil
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create discovery client: %w", err)
	}
	install := func(r *rule.Rule, mode installer.Mode) *installer.Installer {
		return &installer.Installer{
			Rule:      r,
			Mode:      mode,
			Timing:    options.GuardTiming,
			Client:    mgr.GetClient(),
			Live:      mgr.GetAPIReader(),
			Discovery: discoveryClient,
			Clock:     clock.RealClock{},
		}
	}
	guards, gates := install(&guard.Rule, options.Guard), install(&gaterule.Rule, options.gateRule())
	guards.Metrics, guards.InForce = installer.NewMetrics(options.registry()), guarded.Observe
	if options.Lifecycle {
		gates.Metrics = installer.NewGateMetrics(options.registry())
	}
	return setupEach(mgr, guards, gates)
}

// gateRule returns the form of the gate rule: the form of the guard, or Auto where the guard is off.
func (o Options) gateRule() installer.Mode {
	switch {
	case !o.Lifecycle:
		return installer.ModeOff
	case o.Guard == installer.ModeOff:
		return installer.ModeAuto
	default:
		return o.Guard
	}
}

// setupGraft adds the controller that grafts the CRD, and the controller that keeps records of the grafted fields.
func setupGraft(mgr ctrl.Manager, options Options) error {
	if options.Graft == nil {
		return nil
	}
	recorder := mgr.GetEventRecorder(names.AddonManager)
	recordReconciler := records.New(mgr.GetClient(), recorder, options.registry())
	grafter := &graft.Reconciler{
		Settings: *options.Graft,
		Client:   mgr.GetClient(),
		Clock:    clock.RealClock{},
		Recorder: recorder,
		Metrics:  graft.NewMetrics(options.registry()),
		Records:  func(ctx context.Context) error { return records.Require(ctx, mgr.GetClient()) },
		Changed:  recordReconciler.CRDChanged,
	}
	if options.LeaderElection {
		grafter.Lease = options.lease()
	}
	recordReconciler.Present = grafter.Present
	return setupEach(mgr, grafter, recordReconciler)
}

func setupWebhookCA(mgr ctrl.Manager, options Options) error {
	if options.WebhookNamespace == "" {
		return nil
	}
	return (&webhookca.Reconciler{
		Client:    mgr.GetClient(),
		Recorder:  mgr.GetEventRecorder(names.AddonManager),
		Namespace: options.WebhookNamespace,
		Lifecycle: options.Lifecycle,
	}).SetupWithManager(mgr)
}

// setupProbes adds the probes. addon-manager is alive while the process responds. It is ready
// once its cache has synced, also on a replica that does not lead.
func setupProbes(mgr ctrl.Manager, warm *warmup.Warmup) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("cache", warm.Check); err != nil {
		return fmt.Errorf("add readiness probe: %w", err)
	}
	return nil
}
