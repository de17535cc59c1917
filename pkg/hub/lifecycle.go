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
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/configurer"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/ondemand"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/removal"
	"open-cluster-management.io/interlock/pkg/kube/warmup"
)

// setupInstallation adds the controllers that install dependencies and keep the settings of add-ons, if the lifecycle is on.
func setupInstallation(mgr ctrl.Manager, s *shared) error {
	if !s.options.Lifecycle {
		return nil
	}
	settingsReconciler := &configurer.Reconciler{
		Clock:        clock.RealClock{},
		Fleet:        s.fleet,
		Declarations: s.declarations,
		Changes:      s.configs,
		Requests:     &configurer.RequestStore{Changed: s.configs.Changed},
		Outcomes:     s.inputs.Settings,
		Evaluate:     s.triggers.evaluate,
		Live:         mgr.GetAPIReader(),
		Writer:       mgr.GetClient(),
		Recorder:     s.recorder,
		FirstPass:    s.firstPass,
	}
	installations, err := addInstallations(mgr)
	if err != nil {
		return err
	}
	reconciler := newInstallationReconciler(mgr, s, installations)
	s.assessments.Subscribe(func(change assess.Change) {
		settingsReconciler.Requests.Update(change.AddOn, change.Findings())
		reconciler.Assessed(change)
	})
	return setupEach(mgr, reconciler, settingsReconciler)
}

// newInstallationReconciler returns the controller of AddOnInstallations.
func newInstallationReconciler(mgr ctrl.Manager, s *shared, installations cache.Cache) *ondemand.Reconciler {
	return &ondemand.Reconciler{
		Clock:        clock.RealClock{},
		Inputs:       s.inputs,
		Declarations: s.declarations,
		Assessments:  s.assessments,
		Assessor: assess.Assessor{
			Fleet:  s.fleet,
			Loader: s.loader,
			Live:   mgr.GetAPIReader(),
			Acts:   true,
		},
		Stored:             installations,
		Objects:            installations,
		Live:               mgr.GetAPIReader(),
		Writer:             mgr.GetClient(),
		Recorder:           s.recorder,
		Metrics:            ondemand.NewMetrics(s.options.registry()),
		InstallationEvents: approval.Events{Kind: approval.Installations, Clock: clock.RealClock{}, Recorder: s.recorder},
		RemovalEvents:      approval.Events{Kind: approval.Removals, Clock: clock.RealClock{}, Recorder: s.recorder},
		Changed:            s.triggers.installations,
		Evaluate:           s.triggers.evaluate,
		FirstPass:          s.firstPass,
		RemovalDelay:       s.options.RemovalDelay,
		Election:           s.election,
	}
}

// addInstallations adds the cache of AddOnInstallations to the manager. Each replica fills it, and logs a message while it cannot.
func addInstallations(mgr ctrl.Manager) (cache.Cache, error) {
	options := hubcache.InstallationOptions()
	options.HTTPClient, options.Scheme, options.Mapper = mgr.GetHTTPClient(), mgr.GetScheme(), mgr.GetRESTMapper()
	installations, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("create cache of AddOnInstallations: %w", err)
	}
	warm := warmup.New(warmup.Warmup{
		Cache:   installations,
		Hub:     mgr.GetConfig().Host,
		Prepare: hubcache.IndexInstallations,
		Objects: []client.Object{&dependencyv1alpha1.AddOnInstallation{}},
		Waiting: "Waiting for AddOnInstallations: Interlock installs no add-on before it can read them; " +
			"is their CRD installed? It is deploy/hub/addoninstallations-crd.yaml.",
	})
	return installations, errors.Join(mgr.Add(installations), mgr.Add(warm))
}

// setupTeardown adds the controller that removes add-ons in reverse order, if the lifecycle is on.
func setupTeardown(mgr ctrl.Manager, s *shared) error {
	if !s.options.Lifecycle {
		return nil
	}
	return (&removal.Reconciler{
		Clock:        clock.RealClock{},
		Fleet:        s.fleet,
		Declarations: s.declarations,
		Assessments:  s.assessments,
		Live:         mgr.GetAPIReader(),
		Writer:       mgr.GetClient(),
		Recorder:     s.recorder,
	}).SetupWithManager(mgr)
}
