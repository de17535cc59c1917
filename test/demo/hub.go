package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	stockv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

func key(cluster, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: name}
}

func clientOf(cluster *testenv.Cluster) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, addonv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.NewWithWatch(cluster.Config, client.Options{Scheme: scheme})
}

// prepareHub registers the add-ons, like their authors do.
func (w *world) prepareHub() error {
	var err error
	if w.hub, err = clientOf(w.ocm.Cluster); err != nil {
		return err
	}
	for _, a := range slices.Concat(realAddOns, stack) {
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: a.name}}
		registration.Spec.InstallStrategy.Type = stockv1alpha1.AddonInstallStrategyManual
		registration.Spec.Dependencies = a.dependencies
		if err := w.hub.Create(w.ctx, registration); err != nil {
			return fmt.Errorf("register %s: %w", a.name, err)
		}
	}
	return nil
}

// lastRenewal returns when an add-on's agent last renewed its lease.
func (w *world) lastRenewal(ctx context.Context, addOn types.NamespacedName) (time.Time, error) {
	managed, err := clientOf(w.managed[addOn.Namespace].Cluster)
	if err != nil {
		return time.Time{}, err
	}
	var lease coordinationv1.Lease
	if err := managed.Get(ctx, key(ocm.AddOnNamespace, addOn.Name), &lease); err != nil {
		return time.Time{}, err
	}
	if lease.Spec.RenewTime == nil {
		return time.Time{}, fmt.Errorf("the lease of %s was never renewed", addOn)
	}
	return lease.Spec.RenewTime.Time, nil
}

// install installs an add-on on a cluster: a user enables it, its manager sets its health check, and its agent
// starts.
func (w *world) install(ctx context.Context, cluster, name string) error {
	if err := w.enable(ctx, cluster, name); err != nil {
		return err
	}
	return w.startStandIn(cluster, name)
}

// enable installs the add-on without its agent.
func (w *world) enable(ctx context.Context, cluster, name string) error {
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	if err := w.hub.Create(ctx, installed); err != nil {
		return fmt.Errorf("install %s on %s: %w", name, cluster, err)
	}
	return w.reportByLease(ctx, cluster, name)
}

// reportByLease makes OCM check an add-on's health by its lease, like the manager of the add-on would.
func (w *world) reportByLease(ctx context.Context, cluster, name string) error {
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	health := map[string]any{"status": map[string]any{
		"namespace":   ocm.AddOnNamespace,
		"healthCheck": map[string]any{"mode": stockv1alpha1.HealthCheckModeLease},
	}}
	patch, err := json.Marshal(health)
	if err != nil {
		return err
	}
	if err := w.hub.Status().Patch(ctx, installed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("install %s on %s: %w", name, cluster, err)
	}
	return nil
}

// uninstall deletes the add-on and ends its agent.
func (w *world) uninstall(ctx context.Context, cluster, name string) error {
	if err := w.disable(ctx, cluster, name); err != nil {
		return err
	}
	return w.stopStandIn(cluster, name)
}

// disable deletes the add-on and leaves its agent running.
func (w *world) disable(ctx context.Context, cluster, name string) error {
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	if err := w.hub.Delete(ctx, installed); err != nil {
		return fmt.Errorf("delete %s on %s: %w", name, cluster, err)
	}
	return nil
}

// declare replaces the dependencies of an add-on.
func (w *world) declare(ctx context.Context, name string, dependencies ...addonv1alpha1.AddonDependency) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"dependencies": dependencies}})
	if err != nil {
		return err
	}
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := w.hub.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("declare what %s depends on: %w", name, err)
	}
	return nil
}
