package hub

import (
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/affected"
	"open-cluster-management.io/interlock/pkg/hub/configwatch"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/degraded"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/lazywatch"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/ocmversion"
	"open-cluster-management.io/interlock/pkg/hub/outage"
	"open-cluster-management.io/interlock/pkg/hub/templateversion"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// triggers are how the controllers enqueue one another:
//
//	declarations ─evaluate→ degraded
//	declarations ─request→  facts ─evaluate→ degraded
//	declarations ─Enable→   lazy watches ─evaluate→ degraded
//	ManagedClusterFacts ─request→ facts
//	guard ─evaluate→ degraded
type triggers struct {
	// request enqueues managed clusters in the facts controller.
	request *trigger.Trigger
	// evaluate enqueues add-ons on managed clusters in the degraded controller.
	evaluate *trigger.Trigger
}

func newTriggers() triggers {
	return triggers{request: trigger.New(), evaluate: trigger.New()}
}

// setupControllers adds the controllers to the manager.
func setupControllers(mgr ctrl.Manager, warmup *hubcache.Warmup, options Options, on triggers, guarded *degraded.Guarded) error {
	var (
		reader   = hubcache.NewReader(mgr.GetCache())
		store    = declarations.NewStore()
		recorder = mgr.GetEventRecorder(names.AddonManager)
		measured = metrics.New(options.registry())
		memory   = degraded.NewMemory(clock.RealClock{})
		addOns   = affected.AddOns{Fleet: reader, Declarations: store, Evaluate: on.evaluate}
	)
	watches, err := newLazyWatches(mgr, warmup, addOns)
	if err != nil {
		return err
	}
	informer, err := newFactsInformer(mgr, on.request)
	if err != nil {
		return err
	}
	signs := facts.SignsOfLife{Fleet: reader, Outages: memory.Outages, Silent: outage.New(clock.RealClock{})}
	reported := &facts.Reader{Fleet: reader, Informer: informer, Signs: signs, Waiting: outage.New(clock.RealClock{})}
	inputs := hubcache.Inputs{Reader: reader, Configs: watches.configs, OCM: watches.ocm, Templates: watches.templates, Reported: reported}

	return setupEach(mgr,
		&declarations.Reconciler{
			Registered: fleet.Objects{Reader: mgr.GetCache()}, Fleet: reader, Indexed: warmup.Indexed(), Store: store,
			Metrics: measured, Recorder: recorder,
			Evaluate: on.evaluate, Request: on.request, Watches: watches.byUse(),
		},
		&facts.Reconciler{
			Fleet: reader, Declarations: store, Informer: informer, Reader: reported, Signs: signs,
			Writer: mgr.GetClient(), Backoff: backoff.New(clock.RealClock{}), Metrics: measured, Recorder: recorder,
			Request: on.request, Evaluate: on.evaluate,
		},
		&degraded.Reconciler{
			Clock: clock.RealClock{}, Fleet: reader, Declarations: store,
			Writer:  condition.Writer{Status: mgr.GetClient(), Live: mgr.GetAPIReader()},
			Backoff: backoff.New(clock.RealClock{}), Metrics: measured, Recorder: recorder,
			EventLimiter: degraded.NewEventLimiter(), Loader: fleet.Loader{Reader: inputs, Memory: memory, Offline: options.Offline}, Memory: memory,
			Registrations: mgr.GetAPIReader(), Concurrency: options.Concurrency, Guarded: guarded, Evaluate: on.evaluate,
		},
	)
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

// lazyWatches read what only some declarations need.
type lazyWatches struct {
	configs   *lazywatch.Watch
	ocm       *ocmversion.Reader
	templates *templateversion.Reader
}

// byUse is which watch a declaration needs that uses its objects.
func (w lazyWatches) byUse() map[input.Set]declarations.Watch {
	return map[input.Set]declarations.Watch{
		input.Config: w.configs, input.OCM: w.ocm, input.Versions: w.templates,
	}
}

// newLazyWatches adds the watches to the manager.
func newLazyWatches(mgr ctrl.Manager, warmup *hubcache.Warmup, addOns affected.AddOns) (lazyWatches, error) {
	ocm, err := ocmversion.New(mgr, addOns)
	if err != nil {
		return lazyWatches{}, err
	}
	templates, err := templateversion.New(mgr, addOns)
	if err != nil {
		return lazyWatches{}, err
	}
	watches := lazyWatches{configs: configwatch.New(mgr.GetCache(), warmup.Synced(), addOns), ocm: ocm, templates: templates}
	for _, watch := range []manager.Runnable{watches.configs, ocm, templates} {
		if err := mgr.Add(watch); err != nil {
			return lazyWatches{}, fmt.Errorf("add lazy watch: %w", err)
		}
	}
	return watches, nil
}

// newFactsInformer adds the informer of ManagedClusterFacts to the manager.
func newFactsInformer(mgr ctrl.Manager, request *trigger.Trigger) (facts.Informer, error) {
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
