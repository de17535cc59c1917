package hub

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/installation"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/hub/teardown"
)

// setupInstallation adds the controllers that install add-ons for others, and keep their settings, where the lifecycle is on.
func setupInstallation(mgr ctrl.Manager, with *shared) error {
	if !with.options.Lifecycle {
		return nil
	}
	kept := &settings.Reconciler{
		Clock: clock.RealClock{}, Fleet: with.fleet, Declarations: with.declarations, Changes: with.configs,
		Wishes: &settings.Wishes{Changed: with.configs.Changed}, Live: mgr.GetAPIReader(), Writer: mgr.GetClient(),
		Recorder: with.recorder, FirstPass: with.firstPass,
	}
	installed := &installation.Reconciler{
		Clock: clock.RealClock{}, Inputs: with.inputs, Declarations: with.declarations, Needs: with.needs, Evaluate: with.on.evaluate,
		Policies: with.policies.List, Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Recorder: with.recorder,
		Metrics: installation.NewMetrics(with.options.registry()), Changed: with.on.install, FirstPass: with.firstPass,
		RemovalDelay: with.options.RemovalDelay,
	}
	with.assessments.Subscribe(func(change assess.Change) {
		kept.Wishes.Found(change.AddOn, change.Findings())
		installed.Needs.Found(change.AddOn, change.Declared, change.Findings())
	})
	return setupEach(mgr, installed, kept)
}

// setupTeardown adds the controller that removes add-ons in reverse order, where the lifecycle is on.
func setupTeardown(mgr ctrl.Manager, with *shared) error {
	if !with.options.Lifecycle {
		return nil
	}
	return (&teardown.Reconciler{
		Clock: clock.RealClock{}, Fleet: with.fleet, Declarations: with.declarations,
		Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Recorder: with.recorder,
	}).SetupWithManager(mgr)
}
