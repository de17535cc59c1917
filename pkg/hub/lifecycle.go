package hub

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/acting"
	"open-cluster-management.io/interlock/pkg/hub/bundles"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/gates"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/installation"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/hub/teardown"
	"open-cluster-management.io/interlock/pkg/hub/upgrades"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// hooks are what is called with each add-on once it has been evaluated; none where the lifecycle is off.
type hooks struct {
	// evaluated trigger the controllers of gates, of bundles and of upgrades.
	evaluated []func(types.NamespacedName)
	// found reports what was found to the controller of installations.
	found func(types.NamespacedName, *evaluation.Evaluator, []evaluation.Finding)
}

// lifecycle is what the controllers that act rest on.
type lifecycle struct {
	needs        *installation.Needs
	evaluate     *trigger.Trigger
	inputs       hubcache.Inputs
	declarations *declarations.Store
	loader       fleet.Loader
	conditions   condition.Writer
	policies     func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error)
	recorder     events.EventRecorder
	install      *trigger.Trigger
	configs      *settings.Changes
	demand       func(input.Set)
	messages     *backoff.Turns
	firstPass    *firstpass.Pass
}

// setupLifecycle adds the controllers that act, where the lifecycle is on.
func setupLifecycle(mgr ctrl.Manager, options Options, on lifecycle) (hooks, error) {
	if !options.Lifecycle {
		return hooks{}, nil
	}
	addOns := func() acting.AddOns {
		return acting.AddOns{
			Clock: clock.RealClock{}, Fleet: on.inputs.Reader, Declarations: on.declarations, Loader: on.loader, Conditions: on.conditions,
			Backoff: backoff.New(clock.RealClock{}), Evaluate: trigger.New(),
		}
	}
	opened := &gates.Reconciler{
		AddOns: addOns(), Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: on.recorder, Messages: on.messages,
	}
	bundled, upgraded := &bundles.Reconciler{AddOns: addOns()}, &upgrades.Reconciler{AddOns: addOns(), Live: mgr.GetAPIReader()}
	evaluated := []func(types.NamespacedName){opened.Evaluated, bundled.Evaluated, upgraded.Evaluated}
	installed := &installation.Reconciler{
		Clock: clock.RealClock{}, Inputs: on.inputs, Declarations: on.declarations, Needs: on.needs, Evaluate: on.evaluate,
		Policies: on.policies, Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Recorder: on.recorder,
		Metrics: installation.NewMetrics(options.registry()), Changed: on.install, FirstPass: on.firstPass,
		RemovalDelay: options.RemovalDelay, Demand: on.demand,
	}
	set := &settings.Reconciler{
		Clock: clock.RealClock{}, Fleet: on.inputs.Reader, Declarations: on.declarations, Wishes: &settings.Wishes{Changed: on.configs.Changed},
		Changes: on.configs, Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Recorder: on.recorder, FirstPass: on.firstPass,
	}
	installed.Configs = set.Configs
	found := func(addOn types.NamespacedName, declared *evaluation.Evaluator, findings []evaluation.Finding) {
		set.Wishes.Found(addOn, declared, findings)
		installed.Needs.Found(addOn, declared, findings)
	}
	return hooks{evaluated, found}, setupEach(mgr, opened, bundled, upgraded, installed, set, &teardown.Reconciler{
		Clock: clock.RealClock{}, Fleet: on.inputs.Reader, Declarations: on.declarations,
		Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Recorder: on.recorder,
	})
}

// waits returns what installations wait for; nothing where the lifecycle is off.
func waits(options Options, needs *installation.Needs) func(types.NamespacedName) (evaluation.Wait, bool) {
	if !options.Lifecycle {
		return func(types.NamespacedName) (evaluation.Wait, bool) { return evaluation.NoWait, true }
	}
	return func(addOn types.NamespacedName) (evaluation.Wait, bool) {
		waits, known := needs.Waits(addOn)
		if known && waits == evaluation.NoWait {
			waits = evaluation.WaitForInterlock
		}
		return waits, known
	}
}

// each calls all of these.
func each(do []func(types.NamespacedName)) func(types.NamespacedName) {
	return func(addOn types.NamespacedName) {
		for _, one := range do {
			one(addOn)
		}
	}
}
