package ondemand

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// gather is the time for which changes are collected before a decision on an installation.
const gather = time.Second

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "addoninstallations", r, workers, controllers.RetryOnHub,
		r.Changed.Source(Everything),
		source.Kind(r.Stored, &dependencyv1alpha1.AddOnInstallation{}, &handler.TypedEnqueueRequestForObject[*dependencyv1alpha1.AddOnInstallation]{}),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()),
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, r.clusters()))
}

// Assessed stores the missing add-ons of an assessment, and enqueues the affected installations.
func (r *Reconciler) Assessed(change assess.Change) {
	if change.After == nil {
		r.missing.set(change.AddOn, nil)
	} else {
		r.missing.set(change.AddOn, installation.Needed(change.Evaluator.Catalog, change.After.Findings))
	}
	if change.Differs() {
		r.enqueueUsed(change.AddOn)
	}
}

// enqueueUsed enqueues the add-ons that an add-on may use on its managed cluster and that Interlock installs.
func (r *Reconciler) enqueueUsed(addOn types.NamespacedName) {
	evaluator := r.Declarations.Current()
	if evaluator == nil {
		return
	}
	for _, addOns := range installation.Installable(evaluator.Catalog, addOn.Name) {
		r.Changed.EnqueueAfter(gather, types.NamespacedName{Namespace: addOn.Namespace, Name: addOns})
	}
}

// addOns enqueues for an add-on that is created, taken over or deleted.
func (r *Reconciler) addOns() handler.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn, reconcile.Request] {
	changed := func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		key := client.ObjectKeyFromObject(addOn)
		r.Changed.EnqueueAfter(gather, key)
		r.enqueueUsed(key)
	}
	return handler.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*addonv1alpha1.ManagedClusterAddOn], _ trigger.Queue) {
			if !e.IsInInitialList {
				changed(e.Object)
			}
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*addonv1alpha1.ManagedClusterAddOn], _ trigger.Queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID || e.ObjectOld.Generation != e.ObjectNew.Generation {
				changed(e.ObjectNew)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*addonv1alpha1.ManagedClusterAddOn], _ trigger.Queue) {
			changed(e.Object)
		},
	}
}

// clusters enqueues for a managed cluster that becomes available or lost, gets other labels, or is deleted. A label that
// installs an add-on concerns that add-on only.
func (r *Reconciler) clusters() handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request] {
	return handler.TypedFuncs[*clusterv1.ManagedCluster, reconcile.Request]{
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*clusterv1.ManagedCluster], _ trigger.Queue) {
			old, current := e.ObjectOld, e.ObjectNew
			switch {
			case fleet.ClusterStatus(old) != fleet.ClusterStatus(current), old.DeletionTimestamp.IsZero() != current.DeletionTimestamp.IsZero(),
				!maps.Equal(withoutInstallLabels(old), withoutInstallLabels(current)):
				r.enqueueOnCluster(ctx, current.Name, func(string) bool { return true })
			case !maps.Equal(old.Labels, current.Labels):
				r.enqueueOnCluster(ctx, current.Name, func(addOn string) bool {
					label := catalog.InstallLabel(addOn)
					return old.Labels[label] != current.Labels[label] || fleet.HasInstallLabel(old, addOn) != fleet.HasInstallLabel(current, addOn)
				})
			}
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*clusterv1.ManagedCluster], _ trigger.Queue) {
			r.enqueueOnCluster(ctx, e.Object.Name, func(string) bool { return true })
		},
	}
}

// withoutInstallLabels returns the labels that install no add-on.
func withoutInstallLabels(cluster *clusterv1.ManagedCluster) map[string]string {
	labels := maps.Clone(cluster.Labels)
	maps.DeleteFunc(labels, func(label, _ string) bool { return strings.HasPrefix(label, addonv1alpha1.InstallLabelPrefix) })
	return labels
}

// enqueueOnCluster enqueues the matching add-ons that are installed on a managed cluster, or may be.
func (r *Reconciler) enqueueOnCluster(ctx context.Context, cluster string, matches func(addOn string) bool) {
	addOns, err := r.Inputs.OnCluster(ctx, cluster)
	var stored dependencyv1alpha1.AddOnInstallationList
	if errors.Join(err, r.Objects.List(ctx, &stored, client.InNamespace(cluster), client.UnsafeDisableDeepCopy)) != nil {
		return // the cache has stopped
	}
	names := sets.New[string]()
	for i := range stored.Items {
		names.Insert(stored.Items[i].Name)
	}
	evaluator := r.Declarations.Current()
	for _, addOn := range addOns {
		names.Insert(addOn.Name)
		if evaluator != nil {
			names.Insert(installation.Installable(evaluator.Catalog, addOn.Name)...)
		}
	}
	for name := range names {
		if matches(name) {
			r.Changed.EnqueueAfter(gather, types.NamespacedName{Namespace: cluster, Name: name})
		}
	}
}

// enqueueAll enqueues all installed add-ons, and all that may be installed. The first time, it finds the waits of all of
// them.
func (r *Reconciler) enqueueAll(ctx context.Context, evaluator *evaluation.Evaluator, now time.Time) error {
	keys, err := r.keys(ctx, evaluator)
	if err != nil {
		return err
	}
	if !r.complete.Load() {
		if err := r.restoreBounds(ctx, now); err != nil {
			return err
		}
		for key := range keys {
			if err := r.findWait(ctx, evaluator, key, now); err != nil {
				return err
			}
		}
		r.complete.Store(true)
		r.Inputs.Installations.Complete()
		r.Evaluate.Enqueue(r.missing.keysOfDependents()...)
	}
	r.Changed.Enqueue(keys.UnsortedList()...)
	return nil
}

// restoreBounds counts the changes that a former leader has begun.
func (r *Reconciler) restoreBounds(ctx context.Context, now time.Time) error {
	var stored dependencyv1alpha1.AddOnInstallationList
	if err := r.Objects.List(ctx, &stored, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list AddOnInstallations: %w", err)
	}
	r.fleet.restore(stored.Items, now)
	return nil
}

// findWait sets the wait of an installation, without taking a step.
func (r *Reconciler) findWait(ctx context.Context, evaluator *evaluation.Evaluator, key types.NamespacedName, now time.Time) error {
	s, err := r.load(ctx, evaluator, key)
	if err != nil {
		return err
	}
	decision, err := r.preview(ctx, evaluator, s, now)
	if err != nil {
		return err
	}
	r.follow(s, decision, isRefused(s))
	return nil
}

// keys returns all installed add-ons, and all that may be installed.
func (r *Reconciler) keys(ctx context.Context, evaluator *evaluation.Evaluator) (sets.Set[types.NamespacedName], error) {
	var stored dependencyv1alpha1.AddOnInstallationList
	if err := r.Objects.List(ctx, &stored, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AddOnInstallations: %w", err)
	}
	keys := sets.New[types.NamespacedName]()
	for i := range stored.Items {
		keys.Insert(client.ObjectKeyFromObject(&stored.Items[i]))
	}
	for _, dependent := range evaluator.AddOns() {
		addOns := installation.Installable(evaluator.Catalog, dependent)
		if len(addOns) == 0 {
			continue
		}
		dependents, err := r.Inputs.Installed(ctx, dependent)
		if err != nil {
			return nil, err
		}
		for _, key := range dependents {
			for _, addOn := range addOns {
				keys.Insert(types.NamespacedName{Namespace: key.Namespace, Name: addOn})
			}
		}
	}
	return keys, nil
}
