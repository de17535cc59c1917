package hub

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/apidiscovery"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubapis"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/installation"
	"open-cluster-management.io/interlock/pkg/hub/lazywatch"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/hub/reports"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/hub/status"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/trigger"
	"open-cluster-management.io/interlock/pkg/warmup"
)

// triggers are how the controllers enqueue one another:
//
//	declarations ─evaluate→ status
//	declarations ─request→  facts ─evaluate→ status
//	declarations ─Enable→   lazy watches ─evaluate→ status
//	ManagedClusterFacts ─request→ facts
//	AddOnTemplates ─declare→ declarations
//	AddOnDependencyPolicies ─declare→ declarations ─policies→ policies
//	declarations ─hubAPIs→ hubapis ─evaluate→ status
//	CRDs and APIServices of the hub ─hubAPIs→ hubapis
//	guard ─evaluate→ status
//	status ─assessments→ metrics, and reports, where these are on
//	status ─assessments→ installations and settings, where the lifecycle is on
//	declarations ─install→ installations ─evaluate→ status
//	AddOnDeploymentConfigs ─settings→ settings, where the lifecycle is on
//	status ─FirstPass→ installations and settings, where the lifecycle is on
type triggers struct {
	// request enqueues managed clusters in the facts controller.
	request *trigger.Trigger
	// evaluate enqueues add-ons on managed clusters in the status controller.
	evaluate *trigger.Trigger
	// declare enqueues the catalog in the declarations controller.
	declare *trigger.Trigger
	// policies enqueues the statuses of all policies.
	policies *trigger.Trigger
	// install enqueues what is to be installed in the controller of installations.
	install *trigger.Trigger
	// settings enqueues add-ons on managed clusters in the controller of settings.
	settings *trigger.Trigger
	// hubAPIs enqueues what the hub serves in the hubapis controller.
	hubAPIs *trigger.Trigger
}

func newTriggers() triggers {
	return triggers{
		request: trigger.New(), evaluate: trigger.New(), declare: trigger.New(), policies: trigger.New(), hubAPIs: trigger.New(),
		install: trigger.New(), settings: trigger.New(),
	}
}

// counted follows a catalog that was published.
func (t triggers) counted() {
	t.policies.Enqueue(policies.Key)
	t.hubAPIs.Enqueue(hubapis.Key)
	t.install.Enqueue(installation.Key)
}

// turn evaluates an add-on whose messages may change now.
func (t triggers) turn(addOn types.NamespacedName) { t.evaluate.Enqueue(addOn) }

// addOns are those that follow what only some declarations use.
func (t triggers) addOns(reader hubcache.Reader, store *declarations.Store, configs *settings.Changes) lazywatch.AddOns {
	return lazywatch.AddOns{
		Fleet: reader, Declarations: store, Evaluate: t.evaluate, Declare: t.declare, Policies: t.policies, Configured: configs.Config,
		Selectable: func() { t.install.Enqueue(installation.Key) },
	}
}

// setupControllers adds the controllers to the manager.
func setupControllers(mgr ctrl.Manager, warm *warmup.Warmup, options Options, on triggers, guarded *status.Guarded) error {
	var (
		reader   = hubcache.NewReader(mgr.GetCache())
		store    = declarations.NewStore()
		recorder = mgr.GetEventRecorder(names.AddonManager)
		measured = metrics.New(options.registry())
		memory   = assess.NewMemory(clock.RealClock{})
		writer   = condition.Writer{Status: mgr.GetClient(), Live: mgr.GetAPIReader(), Written: condition.NewWritten()}
		configs  = &settings.Changes{Changed: on.settings}
		first    = firstPass(options)
		messages = backoff.NewTurns(clock.RealClock{}, gate.MessagesPerSecond, gate.MessagesAtOnce, on.turn)
	)
	watches, lazy, err := addLazyWatches(mgr, on.addOns(reader, store, configs))
	informer, informerErr := newFactsInformer(mgr, on.request)
	if err := errors.Join(err, informerErr, mgr.Add(messages)); err != nil {
		return err
	}
	served, err := setupHubAPIs(mgr, reader, store, on)
	if err != nil {
		return err
	}
	reported := &facts.Reader{Fleet: reader, Informer: informer, Memory: facts.NewMemory(clock.RealClock{}, memory.Outages)}
	inputs := hubcache.Inputs{Reader: reader, Lazy: lazy, Ready: watches.Ready, Reported: reported, Served: served}
	needs := &installation.Needs{Changed: on.install}
	loader := fleet.Loader{Reader: inputs, Memory: memory, Offline: options.Offline, Demand: watches.Demand, Waits: waits(options, needs)}
	assessments := assess.NewStore()
	assessments.Subscribe(func(change assess.Change) { measured.Assessed(change.AddOn, change.After) })
	reportErr := setupReports(mgr, options, &reports.Reconciler{
		Clock: clock.RealClock{}, Fleet: reader, Declarations: store, Loader: loader,
		Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Scope: options.Reports, Changes: &reports.Changes{},
	}, assessments)
	overriding := &policies.Source{Cache: lazy, Live: mgr.GetAPIReader(), Ready: func() bool { return watches.Ready(input.Policies) }}
	lifecycleErr := setupLifecycle(mgr, options, lifecycle{
		inputs: inputs, declarations: store, policies: overriding.List,
		recorder: recorder, install: on.install, configs: configs, needs: needs, evaluate: on.evaluate, demand: watches.Demand,
		firstPass: first, assessments: assessments,
	})
	if err := errors.Join(reportErr, lifecycleErr); err != nil {
		return err
	}
	return setupEach(mgr,
		&policies.Reconciler{
			Clock: clock.RealClock{}, Fleet: reader, Declarations: store, Source: overriding, Loader: loader,
			Writer: mgr.GetClient(), Recorder: recorder, Changed: on.policies,
		},
		&declarations.Reconciler{
			Registered: fleet.Objects{Reader: mgr.GetCache()}, Fleet: reader, Readable: warm.Begun(), Store: store,
			Metrics: measured, Recorder: recorder, Evaluate: on.evaluate, Request: on.request, EnableWatches: watches.Enable,
			Templates: inputs.Templates, Declare: on.declare, Policies: overriding.List, Counted: on.counted,
		},
		&facts.Reconciler{
			Fleet: reader, Declarations: store, Informer: informer, Reader: reported, Writer: mgr.GetClient(),
			Backoff: backoff.New(clock.RealClock{}), Metrics: measured, Recorder: recorder, Request: on.request, Evaluate: on.evaluate,
		},
		&status.Reconciler{
			Clock: clock.RealClock{}, Declarations: store, Store: assessments, Writer: writer, Memory: memory,
			Assessor: assess.Assessor{Fleet: reader, Loader: loader, Live: mgr.GetAPIReader(), Acts: options.Lifecycle},
			Client:   mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: events.Later(recorder),
			Backoff: backoff.New(clock.RealClock{}), Messages: messages, Metrics: measured,
			EventLimiter: status.NewEventLimiter(), Concurrency: options.Concurrency, Guarded: guarded, Evaluate: on.evaluate,
			FirstPass: first,
		},
	)
}

// firstPass returns the first assessment of all add-ons, for which what acts waits; nil where the lifecycle is off.
func firstPass(options Options) *firstpass.Pass {
	if !options.Lifecycle {
		return nil
	}
	return firstpass.New()
}

// setupReports adds the controller of reports, where they are on.
func setupReports(mgr ctrl.Manager, options Options, reconciler *reports.Reconciler, assessments *assess.Store) error {
	if options.Reports == "" {
		return reports.RemoveWhereOff(mgr)
	}
	assessments.Subscribe(func(change assess.Change) { reconciler.Changes.Add(change.AddOn.Namespace) })
	return reconciler.SetupWithManager(mgr)
}

// setupEach registers controllers.
func setupEach(mgr ctrl.Manager, controllers ...interface{ SetupWithManager(ctrl.Manager) error }) error {
	for _, controller := range controllers {
		if err := controller.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	return nil
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

// setupHubAPIs adds what discovers the APIs that the hub serves to the manager.
func setupHubAPIs(mgr ctrl.Manager, reader hubcache.Reader, store *declarations.Store, on triggers) (*hubapis.Served, error) {
	definitions, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create metadata client of the hub: %w", err)
	}
	documents, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create discovery client of the hub: %w", err)
	}
	api := apidiscovery.API{REST: documents.RESTClient(), Client: "addon-manager"}
	watcher := apidiscovery.New(definitions, api, func() { on.hubAPIs.Enqueue(hubapis.Key) })
	if err := mgr.Add(watcher); err != nil {
		return nil, fmt.Errorf("add discovery of the hub: %w", err)
	}
	served := &hubapis.Served{}
	return served, (&hubapis.Reconciler{
		Fleet: reader, Declarations: store, APIs: watcher, Served: served, Changed: on.hubAPIs, Evaluate: on.evaluate,
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
