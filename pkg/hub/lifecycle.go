package hub

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/installation"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/hub/teardown"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// lifecycle is what the controllers that act rest on.
type lifecycle struct {
	needs        *installation.Needs
	evaluate     *trigger.Trigger
	inputs       hubcache.Inputs
	declarations *declarations.Store
	policies     func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error)
	recorder     events.EventRecorder
	install      *trigger.Trigger
	configs      *settings.Changes
	demand       func(input.Set)
	firstPass    *firstpass.Pass
	assessments  *assess.Store
}

// setupLifecycle adds the controllers that act, where the lifecycle is on.
func setupLifecycle(mgr ctrl.Manager, options Options, on lifecycle) error {
	if !options.Lifecycle {
		return nil
	}
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
	on.assessments.Subscribe(func(change assess.Change) {
		set.Wishes.Found(change.AddOn, change.Findings())
		installed.Needs.Found(change.AddOn, change.Declared, change.Findings())
	})
	return setupEach(mgr, installed, set, &teardown.Reconciler{
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
