// Package policies reads AddOnDependencyPolicies. It writes the effect of each policy on the managed
// clusters of the fleet to its status.
package policies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
)

type dependencyPolicy = dependencyv1alpha1.AddOnDependencyPolicy

// Key is the only key of this controller's queue.
var Key = types.NamespacedName{Name: "policies"}

// Reconciler writes the status of all policies. It has a single key, so many changes of the fleet at the
// same time lead to one count of the managed clusters.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Source       *Source
	// Loader loads the labels of a cluster and the AddOnTemplates that run there.
	Loader   fleet.Loader
	Writer   client.Client
	Recorder events.EventRecorder
	// Changed triggers this controller.
	Changed *trigger.Trigger

	// hasClusterPolicies is true if a policy configures protection or installations. Such a policy affects its
	// clusters regardless of the add-ons there.
	hasClusterPolicies atomic.Bool
}

// Reconcile counts the effects of each policy, and writes each status that has changed.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	evaluator, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	policies, err := r.Source.List(ctx)
	if err != nil || len(policies) == 0 {
		return reconcile.Result{}, err
	}
	if slices.ContainsFunc(policies, func(p dependencyPolicy) bool { return isUnread(evaluator, &p) }) {
		return reconcile.Result{}, nil // the next catalog, which has the AddOnTemplates, triggers this again
	}
	now := r.Clock.Now()
	tally, err := r.count(ctx, evaluator, policy.NewTally(now))
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.countClusters(ctx, policy.Read(policies), tally); err != nil {
		return reconcile.Result{}, err
	}
	var failures []error
	for i := range policies {
		status := tally.Status(&policies[i], evaluator.WithoutEffect)
		failures = append(failures, r.write(ctx, &policies[i], status))
	}
	return controllers.At(policy.Read(policies).Next(now), now), errors.Join(failures...)
}

// isUnread reports whether the AddOnTemplates of an add-on that the policy overrides are not read yet.
func isUnread(evaluator *evaluation.Evaluator, p *dependencyPolicy) bool {
	return slices.ContainsFunc(p.Spec.Overrides, func(override dependencyv1alpha1.DependencyOverride) bool {
		return evaluator.TemplatesUnread(override.AddOn)
	})
}

// count adds the managed clusters on which policies override a dependency.
func (r *Reconciler) count(ctx context.Context, evaluator *evaluation.Evaluator, tally *policy.Tally) (*policy.Tally, error) {
	for _, addOn := range evaluator.Overridden() {
		keys, err := r.Fleet.Installed(ctx, addOn)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			cluster, err := r.Loader.Reader.Cluster(ctx, key.Namespace)
			if err != nil {
				return nil, err
			}
			declared, ok, err := r.Loader.DeclarationInForce(ctx, evaluator, key)
			if err != nil {
				return nil, err
			}
			if ok {
				declared.EachOverridden(func(dependency string, overrides []*policy.Override) {
					tally.Add(addOn, dependency, key.Namespace, labelsOf(cluster), overrides)
				})
			}
		}
	}
	return tally, nil
}

// countClusters adds the managed clusters that policies select for protection or installations, regardless of the add-ons there.
func (r *Reconciler) countClusters(ctx context.Context, set policy.Set, tally *policy.Tally) error {
	r.hasClusterPolicies.Store(set.OfClusters())
	if !set.OfClusters() {
		return nil
	}
	var clusters clusterv1.ManagedClusterList
	if err := r.Fleet.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list managed clusters: %w", err)
	}
	for i := range clusters.Items {
		tally.AddCluster(clusters.Items[i].Name, clusters.Items[i].Labels, set)
	}
	return nil
}

// labelsOf returns the labels of a managed cluster, which may be nil.
func labelsOf(cluster *clusterv1.ManagedCluster) map[string]string {
	if cluster == nil {
		return nil
	}
	return cluster.Labels
}

// write writes the status of a policy if it has changed, and emits events on the changes.
func (r *Reconciler) write(ctx context.Context, p *dependencyPolicy, status dependencyv1alpha1.AddOnDependencyPolicyStatus) error {
	if apiequality.Semantic.DeepEqual(p.Status, status) {
		return nil
	}
	applied := &dependencyPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: dependencyv1alpha1.GroupVersion.String(), Kind: dependencyv1alpha1.PolicyKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID}, Status: status,
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(applied)
	if err != nil {
		return reconcile.TerminalError(fmt.Errorf("convert the status of AddOnDependencyPolicy %s: %w", p.Name, err))
	}
	delete(content, "spec")
	err = r.Writer.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content}),
		client.FieldOwner(names.AddonManager), client.ForceOwnership)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // deleted, or replaced by another of the name: its event follows
	case err != nil:
		return fmt.Errorf("write the status of AddOnDependencyPolicy %s: %w", p.Name, err)
	}
	r.emit(p, status)
	return nil
}
