package reports

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/report"
)

// fleetInterval is the time between two reports on the fleet. In a storm, a report on 5,000 clusters changes all the time.
const fleetInterval = 10 * time.Second

// fleetKey is the key of the report on the fleet.
var fleetKey = types.NamespacedName{Name: dependencyv1alpha1.FleetReportName}

// fleetStates has the state of each managed cluster in the report on the fleet. It is safe for concurrent use.
type fleetStates struct {
	mutex  sync.Mutex
	states map[string]report.ClusterState
	// complete is true once all managed clusters have a state. Until then, each state triggers the controller, because it may be the
	// last one.
	complete bool
	trigger  *trigger.Trigger
}

// changed returns the trigger of the controller of the report on the fleet.
func (s *fleetStates) changed() *trigger.Trigger {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.trigger == nil {
		s.trigger = trigger.New()
	}
	return s.trigger
}

// set replaces the state of a managed cluster. It removes the state of a cluster that was deleted.
func (s *fleetStates) set(view report.View) error {
	state, err := view.State()
	if err != nil {
		return err
	}
	changed := s.changed()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	last, exists := s.states[view.Name]
	isDeleted := view.Object == nil && len(view.AddOns) == 0
	if s.complete && (isDeleted && !exists || exists && !isDeleted && last.Equal(state)) {
		return nil
	}
	if s.states == nil {
		s.states = map[string]report.ClusterState{}
	}
	if isDeleted {
		delete(s.states, view.Name)
	} else {
		s.states[view.Name] = state
	}
	changed.EnqueueAfter(delay, fleetKey)
	return nil
}

// all returns the states of all managed clusters. The bool is false until each of these clusters has had one.
func (s *fleetStates) all(clusters map[string]cluster) ([]report.ClusterState, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for name := range clusters {
		if _, exists := s.states[name]; !exists && !s.complete {
			return nil, false
		}
	}
	s.complete = true
	return slices.Collect(maps.Values(s.states)), true
}

// fleetReconciler writes the report on the fleet.
type fleetReconciler struct {
	clusters *Reconciler
	// started is true once the report of another leader was read, if there is one.
	started bool
	// last is the time of the last report, and content its fingerprint. They are zero before the first one.
	last    time.Time
	content uint64
}

// Reconcile writes the report on the fleet if it has changed, once in fleetInterval.
func (r *fleetReconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if !r.started {
		if err := r.readStored(ctx); err != nil {
			return reconcile.Result{}, err
		}
		r.started = true
	}
	now := r.clusters.Clock.Now()
	if wait := r.last.Add(fleetInterval).Sub(now); wait > 0 && wait <= fleetInterval {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	object, err := r.report(ctx, now)
	if err != nil || object == nil {
		return reconcile.Result{}, err
	}
	if err := r.write(ctx, object); err != nil {
		return reconcile.Result{}, err
	}
	r.last = now
	return reconcile.Result{}, nil
}

// readStored reads the time and the content of the report that another leader has written.
func (r *fleetReconciler) readStored(ctx context.Context) error {
	stored := &report.FleetReport{}
	switch err := r.clusters.Live.Get(ctx, fleetKey, stored); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read the AddOnFleetReport: %w", err)
	}
	content, err := fleetFingerprint(*stored)
	if err != nil {
		return reconcile.TerminalError(err)
	}
	r.last, r.content = stored.Observed.Time, content
	return nil
}

// report returns the report on the fleet. It is nil before all managed clusters were evaluated.
func (r *fleetReconciler) report(ctx context.Context, now time.Time) (*report.FleetReport, error) {
	objects, err := r.objects(ctx)
	if err != nil {
		return nil, err
	}
	states, complete := r.clusters.fleet.all(objects)
	if !complete {
		return nil, nil
	}
	evaluator, err := r.clusters.Declarations.Wait(ctx)
	if err != nil {
		return nil, err
	}
	tally, err := report.Count(states)
	if err != nil {
		return nil, reconcile.TerminalError(err)
	}
	inputs := report.FleetInputs{
		Observed: now,
		Objects:  objects,
		Unusable: report.FindUnusable(evaluator, ""),
	}
	if err := r.explain(ctx, evaluator, tally, &inputs); err != nil {
		return nil, err
	}
	return tally.Report(inputs), nil
}

// objects returns all managed clusters by name.
func (r *fleetReconciler) objects(ctx context.Context) (map[string]cluster, error) {
	list := &clusterv1.ManagedClusterList{}
	if err := r.clusters.Fleet.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list managed clusters: %w", err)
	}
	objects := make(map[string]cluster, len(list.Items))
	for i := range list.Items {
		objects[list.Items[i].Name] = &list.Items[i]
	}
	return objects, nil
}

// explain evaluates the examples of the report again, because the states have no messages. There are few examples, and a message for
// each cluster would take much memory.
func (r *fleetReconciler) explain(ctx context.Context, evaluator *evaluation.Evaluator, tally *report.Tally, inputs *report.FleetInputs) error {
	views := map[string]report.View{}
	viewOf := func(cluster string) (report.View, error) {
		if view, ok := views[cluster]; ok {
			return view, nil
		}
		view, err := r.clusters.load(ctx, evaluator, cluster)
		views[cluster] = view
		return view, err
	}
	inputs.Explanations = map[cause.Cause]report.Explanation{}
	for _, example := range tally.Examples() {
		view, err := viewOf(example.Cluster)
		if err != nil {
			return err
		}
		if explanation, ok := view.Explain(example.Cause); ok {
			inputs.Explanations[example.Cause] = explanation
		}
	}
	inputs.Reasons = map[dependencyv1alpha1.UnexplainedState]string{}
	for _, example := range tally.UnexplainedExamples() {
		view, err := viewOf(example.Cluster)
		if err != nil {
			return err
		}
		inputs.Reasons[example.State] = view.ExplainUnexplained(example.State, example.AddOn)
	}
	return nil
}

// write writes a report unless the same report is stored.
func (r *fleetReconciler) write(ctx context.Context, object *report.FleetReport) error {
	content, err := fleetFingerprint(*object)
	if err != nil {
		return reconcile.TerminalError(err)
	}
	if r.content == content {
		return nil
	}
	object.Labels = managedBy()
	configuration, err := configurationOf(object)
	if err != nil {
		return reconcile.TerminalError(err)
	}
	if err := r.clusters.Writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration),
		client.FieldOwner(names.AddonManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("write the AddOnFleetReport: %w", err)
	}
	r.content = content
	log.FromContext(ctx).V(1).Info("Wrote the report on the fleet", "summary", object.Summary)
	return nil
}

// DeleteFleetReport deletes the report on the fleet, and reports whether there was one. Without one, it writes nothing. live reads from the
// API server.
func DeleteFleetReport(ctx context.Context, live client.Reader, hub client.Writer) (bool, error) {
	object := &report.FleetReport{ObjectMeta: metav1.ObjectMeta{Name: dependencyv1alpha1.FleetReportName}}
	err := live.Get(ctx, client.ObjectKeyFromObject(object), object)
	if err == nil {
		err = hub.Delete(ctx, object)
	}
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("delete the AddOnFleetReport: %w", err)
	}
	return true, nil
}
