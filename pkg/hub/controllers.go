package hub

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"golang.org/x/time/rate"

	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/hub/reports"
	"open-cluster-management.io/interlock/pkg/hub/status"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// setupControllers adds the controllers to the manager. Subscribers to assessments come before the controller that publishes them.
func setupControllers(mgr ctrl.Manager, s *shared) error {
	for _, setup := range []func(ctrl.Manager, *shared) error{
		setupMetrics, setupReports, setupInstallation, setupTeardown, setupPolicies, setupDeclarations, setupFacts, setupStatus,
	} {
		if err := setup(mgr, s); err != nil {
			return err
		}
	}
	return nil
}

// setupMetrics counts findings.
func setupMetrics(_ ctrl.Manager, s *shared) error {
	s.assessments.Subscribe(func(change assess.Change) { s.metrics.Assessed(change.AddOn, change.After) })
	return nil
}

// setupReports adds the controller of reports, if reports are on.
func setupReports(mgr ctrl.Manager, s *shared) error {
	if s.options.Reports == "" {
		return reports.RemoveWhereOff(mgr)
	}
	changes := &reports.Changes{}
	s.assessments.Subscribe(func(change assess.Change) { changes.Add(change.AddOn.Namespace) })
	return (&reports.Reconciler{
		Clock:        clock.RealClock{},
		Fleet:        s.fleet,
		Declarations: s.declarations,
		Loader:       s.loader,
		Live:         mgr.GetAPIReader(),
		Writer:       mgr.GetClient(),
		Scope:        s.options.Reports,
		Changes:      changes,
	}).SetupWithManager(mgr)
}

// setupPolicies adds the controller that writes the status of policies.
func setupPolicies(mgr ctrl.Manager, s *shared) error {
	return (&policies.Reconciler{
		Clock:        clock.RealClock{},
		Fleet:        s.fleet,
		Declarations: s.declarations,
		Source:       s.policies,
		Loader:       s.loader,
		Writer:       mgr.GetClient(),
		Recorder:     s.recorder,
		Changed:      s.triggers.policies,
	}).SetupWithManager(mgr)
}

// setupDeclarations adds the controller that builds the catalog.
func setupDeclarations(mgr ctrl.Manager, s *shared) error {
	return (&declarations.Reconciler{
		Registrations: fleet.Objects{Reader: mgr.GetCache()},
		Fleet:         s.fleet,
		Readable:      s.warm.Begun(),
		Store:         s.declarations,
		Metrics:       s.metrics,
		Recorder:      s.recorder,
		Evaluate:      s.triggers.evaluate,
		Request:       s.triggers.request,
		EnableWatches: s.watches.Enable,
		Templates:     s.inputs.Templates,
		Placements:    s.inputs.Placements,
		Declare:       s.triggers.declare,
		Policies:      s.policies.List,
		Published:     s.triggers.catalogPublished,
	}).SetupWithManager(mgr)
}

// setupFacts adds the controller that requests facts from agents.
func setupFacts(mgr ctrl.Manager, s *shared) error {
	return (&facts.Reconciler{
		Fleet:        s.fleet,
		Declarations: s.declarations,
		Informer:     s.informer,
		Reader:       s.reported,
		Writer:       mgr.GetClient(),
		Backoff:      backoff.New(clock.RealClock{}),
		Metrics:      s.metrics,
		Recorder:     s.recorder,
		Request:      s.triggers.request,
		Evaluate:     s.triggers.evaluate,
	}).SetupWithManager(mgr)
}

// setupStatus adds the controller that assesses add-ons, and writes their conditions and gates.
func setupStatus(mgr ctrl.Manager, s *shared) error {
	return (&status.Reconciler{
		Clock:        clock.RealClock{},
		Declarations: s.declarations,
		Store:        s.assessments,
		Memory:       s.memory,
		Assessor: assess.Assessor{
			Fleet:  s.fleet,
			Loader: s.loader,
			Live:   mgr.GetAPIReader(),
			Acts:   s.options.Lifecycle,
		},
		Writer:       conditionwriter.Writer{Status: mgr.GetClient(), Live: mgr.GetAPIReader()},
		Client:       mgr.GetClient(),
		Live:         mgr.GetAPIReader(),
		Recorder:     events.Later(s.recorder),
		Backoff:      backoff.New(clock.RealClock{}),
		Messages:     rate.NewLimiter(gate.MessagesPerSecond, gate.MessagesAtOnce),
		Metrics:      s.metrics,
		EventLimiter: status.NewEventLimiter(),
		Concurrency:  s.options.Concurrency,
		Guarded:      s.guarded,
		Evaluate:     s.triggers.evaluate,
		FirstPass:    s.firstPass,
	}).SetupWithManager(mgr)
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
