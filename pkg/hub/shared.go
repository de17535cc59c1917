package hub

import (
	"errors"
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	toolsevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubapis"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/lazywatch"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/configurer"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/hub/status"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/kube/warmup"
	"open-cluster-management.io/interlock/pkg/names"
)

// shared has the caches, stores and triggers that several controllers of addon-manager use.
type shared struct {
	options      Options
	election     leadership.Election
	triggers     triggers
	guarded      *status.Guarded
	warm         *warmup.Warmup
	fleet        hubcache.Reader
	inputs       hubcache.Inputs
	loader       fleet.Loader
	memory       *assess.Memory
	informer     *facts.Informer
	reported     *facts.Reader
	declarations *declarations.Store
	assessments  *assess.Store
	policies     *policies.Source
	watches      lazywatch.Watches
	metrics      *metrics.Metrics
	recorder     toolsevents.EventRecorder
	// firstPass delays installations on demand and settings until all add-ons have been assessed once. Gates, upgrades and removals in
	// order need only their own add-on. It is nil where the lifecycle is off.
	firstPass *firstpass.Pass
	configs   *configurer.Changes
}

// newShared adds the caches to the manager.
func newShared(mgr ctrl.Manager, warm *warmup.Warmup, options Options, t triggers, guarded *status.Guarded) (*shared, error) {
	s := &shared{
		options:      options,
		triggers:     t,
		guarded:      guarded,
		warm:         warm,
		fleet:        hubcache.NewReader(mgr.GetCache()),
		memory:       assess.NewMemory(clock.RealClock{}),
		declarations: declarations.NewStore(),
		assessments:  assess.NewStore(),
		metrics:      metrics.New(options.registry()),
		recorder:     mgr.GetEventRecorder(names.AddonManager),
		firstPass:    firstPass(options),
		configs:      &configurer.Changes{Changed: t.settings},
	}
	watches, lazy, err := addLazyWatches(mgr, t.lazyAddOns(s.fleet, s.declarations, s.configs))
	informer, informerErr := newFactsInformer(mgr, t.request)
	served, servedErr := setupHubAPIs(mgr, s.fleet, s.declarations, t)
	if err := errors.Join(err, informerErr, servedErr); err != nil {
		return nil, err
	}
	s.watches, s.informer = watches, informer
	s.reported = &facts.Reader{Fleet: s.fleet, Informer: informer, Memory: facts.NewMemory(clock.RealClock{}, s.memory.Outages)}
	s.inputs = hubcache.Inputs{
		Reader:        s.fleet,
		Lazy:          lazy,
		Watches:       watches,
		Reported:      s.reported,
		Served:        served,
		Installations: hubcache.NewInstallations(options.Lifecycle),
		Settings:      hubcache.NewSettings(options.Lifecycle),
	}
	s.loader = fleet.Loader{Reader: s.inputs, Memory: s.memory, Offline: options.Offline}
	s.policies = &policies.Source{Cache: lazy, Live: mgr.GetAPIReader(), Ready: func() bool { return watches.Ready(input.Policies) }}
	return s, nil
}

// firstPass returns the tracker of the first assessment of all add-ons. It is nil if the lifecycle is off.
func firstPass(options Options) *firstpass.Pass {
	if !options.Lifecycle {
		return nil
	}
	return firstpass.New()
}

// addLazyWatches adds the lazy cache and its watches to the manager.
func addLazyWatches(mgr ctrl.Manager, addOns lazywatch.AddOns) (lazywatch.Watches, fleet.Objects, error) {
	options := hubcache.LazyOptions()
	options.HTTPClient, options.Scheme, options.Mapper = mgr.GetHTTPClient(), mgr.GetScheme(), mgr.GetRESTMapper()
	lazy, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fleet.Objects{}, fmt.Errorf("create lazy cache: %w", err)
	}
	watches := lazywatch.NewWatches(lazy, addOns)
	err = mgr.Add(lazy)
	for _, watch := range watches {
		err = errors.Join(err, mgr.Add(watch))
	}
	return watches, fleet.Objects{Reader: lazy}, err
}

// setupHubAPIs adds the discovery of the APIs that the hub serves to the manager.
func setupHubAPIs(mgr ctrl.Manager, reader hubcache.Reader, store *declarations.Store, t triggers) (*hubapis.Served, error) {
	definitions, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create metadata client of the hub: %w", err)
	}
	documents, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create discovery client of the hub: %w", err)
	}
	api := apidiscovery.API{REST: documents.RESTClient(), Client: "addon-manager"}
	watcher := apidiscovery.New(definitions, api, func() { t.hubAPIs.Enqueue(hubapis.Key) })
	if err := mgr.Add(watcher); err != nil {
		return nil, fmt.Errorf("add discovery of the hub: %w", err)
	}
	served := &hubapis.Served{}
	return served, (&hubapis.Reconciler{
		Fleet:        reader,
		Declarations: store,
		APIs:         watcher,
		Served:       served,
		Changed:      t.hubAPIs,
		Evaluate:     t.evaluate,
	}).SetupWithManager(mgr)
}

// newFactsInformer adds the informer of ManagedClusterFacts to the manager.
func newFactsInformer(mgr ctrl.Manager, request *trigger.Trigger) (*facts.Informer, error) {
	hub, err := client.NewWithWatch(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return nil, fmt.Errorf("create client of the hub: %w", err)
	}
	informer := facts.NewInformer(hub, request)
	if err := mgr.Add(informer); err != nil {
		return nil, fmt.Errorf("add informer of facts: %w", err)
	}
	return informer, nil
}
