package hub

import (
	"errors"
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/approval"
	lifecycle "open-cluster-management.io/interlock/pkg/hub/lifecycle/installation"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/hub/teardown"
	"open-cluster-management.io/interlock/pkg/warmup"
)

// setupInstallation adds the controllers that install add-ons for others, and keep their settings, where the lifecycle is on.
func setupInstallation(mgr ctrl.Manager, with *shared) error {
	if !with.options.Lifecycle {
		return nil
	}
	kept := &settings.Reconciler{
		Clock: clock.RealClock{}, Fleet: with.fleet, Declarations: with.declarations, Changes: with.configs,
		Requests: &settings.RequestStore{Changed: with.configs.Changed}, Live: mgr.GetAPIReader(), Writer: mgr.GetClient(),
		Recorder: with.recorder, FirstPass: with.firstPass,
	}
	stored, err := addInstallations(mgr)
	if err != nil {
		return err
	}
	installed := newInstalled(mgr, with, stored)
	with.assessments.Subscribe(func(change assess.Change) {
		kept.Requests.Update(change.AddOn, change.Findings())
		installed.Assessed(change)
	})
	return setupEach(mgr, installed, kept)
}

// newInstalled returns the controller of AddOnInstallations.
func newInstalled(mgr ctrl.Manager, with *shared, stored cache.Cache) *lifecycle.Reconciler {
	return &lifecycle.Reconciler{
		Clock: clock.RealClock{}, Inputs: with.inputs, Declarations: with.declarations, Assessments: with.assessments,
		Assessor: assess.Assessor{Fleet: with.fleet, Loader: with.loader, Live: mgr.GetAPIReader(), Acts: true},
		Stored:   stored, Objects: stored, Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Recorder: with.recorder,
		Metrics:            lifecycle.NewMetrics(with.options.registry()),
		InstallationEvents: approval.Events{Kind: approval.Installations, Clock: clock.RealClock{}, Recorder: with.recorder},
		RemovalEvents:      approval.Events{Kind: approval.Removals, Clock: clock.RealClock{}, Recorder: with.recorder},
		Changed:            with.on.installations, Evaluate: with.on.evaluate, FirstPass: with.firstPass, RemovalDelay: with.options.RemovalDelay,
	}
}

// addInstallations adds the cache of AddOnInstallations to the manager. Each replica fills it, and says so while it cannot.
func addInstallations(mgr ctrl.Manager) (cache.Cache, error) {
	options := hubcache.InstallationOptions()
	options.HTTPClient, options.Scheme, options.Mapper = mgr.GetHTTPClient(), mgr.GetScheme(), mgr.GetRESTMapper()
	stored, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("create cache of AddOnInstallations: %w", err)
	}
	warm := warmup.New(warmup.Warmup{
		Cache: stored, Hub: mgr.GetConfig().Host, Prepare: hubcache.IndexInstallations,
		Objects: []client.Object{&dependencyv1alpha1.AddOnInstallation{}},
		Waiting: "Waiting for AddOnInstallations: Interlock installs no add-on before it can read them; " +
			"is their CRD installed? It is deploy/hub/addoninstallations-crd.yaml.",
	})
	return stored, errors.Join(mgr.Add(stored), mgr.Add(warm))
}

// setupTeardown adds the controller that removes add-ons in reverse order, where the lifecycle is on.
func setupTeardown(mgr ctrl.Manager, with *shared) error {
	if !with.options.Lifecycle {
		return nil
	}
	return (&teardown.Reconciler{
		Clock: clock.RealClock{}, Fleet: with.fleet, Declarations: with.declarations, Assessments: with.assessments,
		Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Recorder: with.recorder,
	}).SetupWithManager(mgr)
}
