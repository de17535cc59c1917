// Package reports keeps an AddOnDependencyReport in the namespace of each managed cluster
// that has unsatisfied dependencies or, with --reports=all, any. It only runs with --reports.
package reports

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/report"
)

type stored = dependencyv1alpha1.AddOnDependencyReport

// Reconciler keeps the report on one managed cluster.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Loader       fleet.Loader
	// Live reads reports from the API server: they are not cached.
	Live   client.Reader
	Writer client.Client
	Scope  dependencyv1alpha1.ReportScope
	// Changes enqueues the clusters whose add-ons were evaluated.
	Changes *Changes

	// contents has a fingerprint of each report that is stored, by cluster.
	contents    sync.Map
	evaluations evaluations
}

// Reconcile writes the report on the cluster of that name if it changed, and deletes it if
// it is empty.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := request.Name
	declared, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	whole, waiting, err := r.load(ctx, declared, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	evaluated := report.EvaluateCluster(r.evaluations.of(declared), whole)
	evaluated.Waiting = waiting
	var before *stored
	if evaluated.KeepsLast() {
		if before, err = r.last(ctx, cluster); err != nil {
			return reconcile.Result{}, err
		}
	}
	if found := evaluated.Report(r.Scope, before); found != nil {
		return reconcile.Result{}, r.write(ctx, found)
	}
	return reconcile.Result{}, r.remove(ctx, cluster)
}

// load reads all inputs of the report on a cluster from the cache, and the installations and upgrades that wait there.
func (r *Reconciler) load(ctx context.Context, declared *evaluation.Evaluator, cluster string) (whatif.Cluster, []fleet.Waiting, error) {
	installed, err := r.Fleet.OnCluster(ctx, cluster)
	if err != nil {
		return whatif.Cluster{}, nil, err
	}
	addOns := make([]string, 0, len(installed))
	for _, key := range installed {
		addOns = append(addOns, key.Name)
	}
	described, observed, err := r.Loader.Whole(ctx, declared, cluster, addOns, r.Clock.Now())
	if err != nil {
		return whatif.Cluster{}, nil, err
	}
	waiting, err := r.Loader.Waiting(ctx, cluster, addOns)
	return whatif.Cluster{Cluster: described, AddOns: observed}, waiting, err
}

// last reads the report that is stored, nil where there is none.
func (r *Reconciler) last(ctx context.Context, cluster string) (*stored, error) {
	if _, exists := r.contents.Load(cluster); !exists {
		return nil, nil
	}
	before := &stored{}
	switch err := r.Live.Get(ctx, reportKey(cluster), before); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the AddOnDependencyReport of cluster %s: %w", cluster, err)
	}
	return before, nil
}

// write writes a report unless it is stored.
func (r *Reconciler) write(ctx context.Context, found *stored) error {
	content, err := fingerprint(found)
	if err != nil {
		return reconcile.TerminalError(err)
	}
	if known, exists := r.contents.Load(found.Name); exists && known == content {
		return nil
	}
	configuration, err := configurationOf(found)
	if err != nil {
		return reconcile.TerminalError(err)
	}
	err = r.Writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration), client.FieldOwner(names.AddonManager), client.ForceOwnership)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // its add-ons will be deleted, and the report with the namespace
	case err != nil:
		return fmt.Errorf("write the AddOnDependencyReport of cluster %s: %w", found.Name, err)
	}
	r.contents.Store(found.Name, content)
	log.FromContext(ctx).V(1).Info("Wrote the report on a cluster", "cluster", found.Name, "summary", found.Summary)
	return nil
}

// remove deletes the report on a cluster.
func (r *Reconciler) remove(ctx context.Context, cluster string) error {
	if _, exists := r.contents.Load(cluster); !exists {
		return nil
	}
	object := &stored{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: cluster}}
	if err := client.IgnoreNotFound(r.Writer.Delete(ctx, object)); err != nil {
		return fmt.Errorf("delete the AddOnDependencyReport of cluster %s: %w", cluster, err)
	}
	r.contents.Delete(cluster)
	log.FromContext(ctx).V(1).Info("Deleted the report on a cluster", "cluster", cluster)
	return nil
}
