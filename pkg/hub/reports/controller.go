// Package reports writes an AddOnDependencyReport to the namespace of each managed cluster
// with unsatisfied dependencies. With --reports=all, it writes one for each cluster with
// dependencies. It also writes the AddOnFleetReport. It only runs with --reports.
package reports

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/report"
)

type dependencyReport = dependencyv1alpha1.AddOnDependencyReport

// Reconciler writes the report on one managed cluster.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Loader       fleet.Loader
	// Live reads reports from the API server, because they are not cached.
	Live   client.Reader
	Writer client.Client
	Scope  dependencyv1alpha1.ReportScope
	// Changes enqueues the clusters whose add-ons were evaluated.
	Changes *Changes

	// contents has the fingerprint of each stored report, by cluster.
	contents    sync.Map
	evaluations evaluationCache
	// fleet has the states of all clusters.
	fleet fleetStates
}

// Reconcile writes the report on a cluster if it has changed, and deletes it if it is empty.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := request.Name
	evaluator, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	result, err := r.load(ctx, evaluator, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.fleet.set(result); err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	var last *dependencyReport
	if result.KeepsLast() {
		if last, err = r.last(ctx, cluster); err != nil {
			return reconcile.Result{}, err
		}
	}
	if desired := result.Report(r.Scope, last); desired != nil {
		return reconcile.Result{}, r.write(ctx, desired)
	}
	return reconcile.Result{}, r.remove(ctx, cluster)
}

// load reads all inputs of the report on a cluster from the cache, and evaluates them.
func (r *Reconciler) load(ctx context.Context, evaluator *evaluation.Evaluator, cluster string) (report.View, error) {
	addOns, err := r.Fleet.AddOnsOn(ctx, cluster)
	if err != nil {
		return report.View{}, err
	}
	object, err := r.Fleet.Cluster(ctx, cluster)
	if err != nil {
		return report.View{}, err
	}
	view := report.View{Object: object}
	addOnNames := make([]string, 0, len(addOns))
	for i := range addOns {
		view.AddOns = append(view.AddOns, &addOns[i])
	}
	slices.SortFunc(view.AddOns, func(a, b *addonv1alpha1.ManagedClusterAddOn) int { return cmp.Compare(a.Name, b.Name) })
	for _, addOn := range view.AddOns {
		addOnNames = append(addOnNames, addOn.Name)
	}
	state, observations, err := r.Loader.Whole(ctx, evaluator, cluster, addOnNames, r.Clock.Now())
	if err != nil {
		return report.View{}, err
	}
	waits, err := r.Loader.Waiting(ctx, cluster, addOnNames)
	view.Cluster = report.EvaluateCluster(r.evaluations.prepare(evaluator), whatif.Cluster{Cluster: state, AddOns: observations})
	view.Waiting = waits
	return view, err
}

// last returns the stored report, or nil.
func (r *Reconciler) last(ctx context.Context, cluster string) (*dependencyReport, error) {
	if _, exists := r.contents.Load(cluster); !exists {
		return nil, nil
	}
	object := &dependencyReport{}
	switch err := r.Live.Get(ctx, reportKey(cluster), object); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the AddOnDependencyReport of cluster %s: %w", cluster, err)
	}
	return object, nil
}

// write writes a report unless the same report is stored.
func (r *Reconciler) write(ctx context.Context, object *dependencyReport) error {
	content, err := fingerprint(*object)
	if err != nil {
		return reconcile.TerminalError(err)
	}
	if last, exists := r.contents.Load(object.Name); exists && last == content {
		return nil
	}
	applied := *object
	applied.Labels = managedBy()
	configuration, err := configurationOf(&applied)
	if err != nil {
		return reconcile.TerminalError(err)
	}
	err = r.Writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration), client.FieldOwner(names.AddonManager), client.ForceOwnership)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // its add-ons will be deleted, and the report with the namespace
	case err != nil:
		return fmt.Errorf("write the AddOnDependencyReport of cluster %s: %w", object.Name, err)
	}
	r.contents.Store(object.Name, content)
	log.FromContext(ctx).V(1).Info("Wrote the report on a cluster", "cluster", object.Name, "summary", object.Summary)
	return nil
}

// remove deletes the report on a cluster.
func (r *Reconciler) remove(ctx context.Context, cluster string) error {
	if _, exists := r.contents.Load(cluster); !exists {
		return nil
	}
	object := &dependencyReport{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: cluster}}
	if err := client.IgnoreNotFound(r.Writer.Delete(ctx, object)); err != nil {
		return fmt.Errorf("delete the AddOnDependencyReport of cluster %s: %w", cluster, err)
	}
	r.contents.Delete(cluster)
	log.FromContext(ctx).V(1).Info("Deleted the report on a cluster", "cluster", cluster)
	return nil
}
