package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	stockv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func (b *bench) register(ctx context.Context, name string, dependencies ...addonv1alpha1.AddonDependency) error {
	addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	addOn.Spec.InstallStrategy.Type = stockv1alpha1.AddonInstallStrategyManual
	addOn.Spec.Dependencies = dependencies
	return b.hub.Create(ctx, addOn)
}

// install creates an add-on on a cluster; its lease is kept in the namespace
// of the cluster's name on the managed side.
func (b *bench) install(ctx context.Context, cluster, name string, mode stockv1alpha1.HealthCheckMode) error {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	if err := b.hub.Create(ctx, addOn); err != nil {
		return err
	}
	// A patch without a version: Interlock may have written meanwhile.
	created := addOn.DeepCopy()
	addOn.Status.HealthCheck.Mode = mode
	addOn.Status.Namespace = cluster
	return b.hub.Status().Patch(ctx, addOn, client.MergeFrom(created))
}

// renew creates or renews an add-on's lease on the managed cluster.
func (b *bench) renew(ctx context.Context, cluster, name string) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	err := b.managed.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now()))
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		return b.managed.Create(ctx, lease)
	}
	return b.managed.Update(ctx, lease)
}

// report sets an add-on's Available as its own manager would, by one patch.
func (b *bench) report(ctx context.Context, key types.NamespacedName, status metav1.ConditionStatus) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []metav1.Condition{{
		Type: "Available", Status: status, Reason: "Measured", LastTransitionTime: metav1.Now(),
	}}}})
	if err != nil {
		return err
	}
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return b.hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch))
}

// await reads the watch until the add-on's condition has the status, and
// returns when that was delivered.
func (w *watcher) await(ctx context.Context, name, condition string, status metav1.ConditionStatus) (time.Time, error) {
	timeout := time.NewTimer(time.Minute)
	defer timeout.Stop()
	for {
		if meta.IsStatusConditionPresentAndEqual(w.seen[name], condition, status) {
			return w.at[name], nil
		}
		select {
		case event, open := <-w.events.ResultChan():
			if !open {
				return time.Time{}, fmt.Errorf("watch ended while waiting for %s=%s of %s", condition, status, name)
			}
			if addOn, ok := event.Object.(*addonv1alpha1.ManagedClusterAddOn); ok {
				w.seen[addOn.Name], w.at[addOn.Name] = addOn.Status.Conditions, time.Now()
			}
		case <-timeout.C:
			return time.Time{}, fmt.Errorf("%s of %s is not %s after a minute: %v", condition, name, status, w.seen[name])
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
}
