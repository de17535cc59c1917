package hub

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"golang.org/x/time/rate"

	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/hub/reports"
	"open-cluster-management.io/interlock/pkg/hub/status"
)

// setupControllers adds the controllers to the manager. Subscribers to the assessments come before the controller that makes them.
func setupControllers(mgr ctrl.Manager, with *shared) error {
	for _, setup := range []func(ctrl.Manager, *shared) error{
		setupMetrics, setupReports, setupInstallation, setupTeardown, setupPolicies, setupDeclarations, setupFacts, setupStatus,
	} {
		if err := setup(mgr, with); err != nil {
			return err
		}
	}
	return nil
}

// setupMetrics counts findings.
func setupMetrics(_ ctrl.Manager, with *shared) error {
	with.assessments.Subscribe(func(change assess.Change) { with.metrics.Assessed(change.AddOn, change.After) })
	return nil
}

// setupReports adds the controller of reports, where they are on.
func setupReports(mgr ctrl.Manager, with *shared) error {
	if with.options.Reports == "" {
		return reports.RemoveWhereOff(mgr)
	}
	changes := &reports.Changes{}
	with.assessments.Subscribe(func(change assess.Change) { changes.Add(change.AddOn.Namespace) })
	return (&reports.Reconciler{
		Clock: clock.RealClock{}, Fleet: with.fleet, Declarations: with.declarations, Loader: with.loader,
		Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Scope: with.options.Reports, Changes: changes,
	}).SetupWithManager(mgr)
}

// setupPolicies adds the controller of the statuses of policies.
func setupPolicies(mgr ctrl.Manager, with *shared) error {
	return (&policies.Reconciler{
		Clock: clock.RealClock{}, Fleet: with.fleet, Declarations: with.declarations, Source: with.policies, Loader: with.loader,
		Writer: mgr.GetClient(), Recorder: with.recorder, Changed: with.on.policies,
	}).SetupWithManager(mgr)
}

// setupDeclarations adds the controller of the catalog.
func setupDeclarations(mgr ctrl.Manager, with *shared) error {
	return (&declarations.Reconciler{
		Registered: fleet.Objects{Reader: mgr.GetCache()}, Fleet: with.fleet, Readable: with.warm.Begun(), Store: with.declarations,
		Metrics: with.metrics, Recorder: with.recorder, Evaluate: with.on.evaluate, Request: with.on.request,
		EnableWatches: with.watches.Enable, Templates: with.inputs.Templates, Placements: with.inputs.Placements, Declare: with.on.declare, Policies: with.policies.List,
		Counted: with.on.counted,
	}).SetupWithManager(mgr)
}

// setupFacts adds the controller that requests facts of agents.
func setupFacts(mgr ctrl.Manager, with *shared) error {
	return (&facts.Reconciler{
		Fleet: with.fleet, Declarations: with.declarations, Informer: with.informer, Reader: with.reported, Writer: mgr.GetClient(),
		Backoff: backoff.New(clock.RealClock{}), Metrics: with.metrics, Recorder: with.recorder, Request: with.on.request,
		Evaluate: with.on.evaluate,
	}).SetupWithManager(mgr)
}

// setupStatus adds the controller that assesses add-ons, and writes their conditions and gates.
func setupStatus(mgr ctrl.Manager, with *shared) error {
	return (&status.Reconciler{
		Clock: clock.RealClock{}, Declarations: with.declarations, Store: with.assessments, Memory: with.memory,
		Assessor: assess.Assessor{Fleet: with.fleet, Loader: with.loader, Live: mgr.GetAPIReader(), Acts: with.options.Lifecycle},
		Writer:   condition.Writer{Status: mgr.GetClient(), Live: mgr.GetAPIReader()},
		Client:   mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: events.Later(with.recorder),
		Backoff: backoff.New(clock.RealClock{}), Messages: rate.NewLimiter(gate.MessagesPerSecond, gate.MessagesAtOnce),
		Metrics: with.metrics, EventLimiter: status.NewEventLimiter(),
		Concurrency: with.options.Concurrency, Guarded: with.guarded, Evaluate: with.on.evaluate, FirstPass: with.firstPass,
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
