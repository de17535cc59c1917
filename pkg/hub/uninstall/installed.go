package uninstall

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/hub/bulk"
	"open-cluster-management.io/interlock/pkg/names"
)

// The values of Options.Installed: what becomes of add-ons that Interlock has installed because others need them.
const (
	// Keep hands them over: the users of the hub remove them.
	Keep = "keep"
	// Remove removes them, except those that other writers have taken over.
	Remove = "remove"
)

// forced is the reason of deletions, for protection.
const forced = "Interlock is being uninstalled"

// settleInstalled hands over or removes what Interlock has installed. At last it deletes the AddOnInstallations: without them, no Interlock
// removes anything.
func (u *uninstallation) settleInstalled(ctx context.Context) (string, error) {
	settle := u.handOverAll
	if u.options.Installed == Remove {
		settle = u.removeAll
	}
	done, err := settle(ctx)
	if err != nil {
		return "", err
	}
	deleted, err := u.deleteOwn(ctx, dependencyv1alpha1.InstallationKind, "AddOnInstallations")
	return done + "; " + deleted, err
}

func (u *uninstallation) handOverAll(ctx context.Context) (string, error) {
	cleaned, _, err := u.cleanAll(ctx, "installed", u.handOver)
	return fmt.Sprintf("%d ManagedClusterAddOns stay, and are not Interlock's any more; so do Placements in namespace %s",
		cleaned, addonv1alpha1.InstallNamespace), err
}

func (u *uninstallation) removeAll(ctx context.Context) (string, error) {
	stored, err := u.installations(ctx)
	if err != nil {
		return "", err
	}
	var deleted atomic.Int64
	settled, _, err := u.cleanAll(ctx, "installed", func(ctx context.Context, addOn *unstructured.Unstructured) (bool, error) {
		removed, changed, err := u.removeInstalled(ctx, addOn, stored[client.ObjectKeyFromObject(addOn)])
		if removed && err == nil {
			deleted.Add(1)
		}
		return changed, err
	})
	if err == nil {
		err = u.deletePlacements(ctx)
	}
	return fmt.Sprintf("%d ManagedClusterAddOns deleted, %d handed over because other writers have changed them; Placements in namespace %s deleted",
		deleted.Load(), settled-deleted.Load(), addonv1alpha1.InstallNamespace), err
}

// installations returns the statuses of the AddOnInstallations, by the keys of the add-ons. A hub that lacks their CRD has none.
func (u *uninstallation) installations(ctx context.Context) (map[types.NamespacedName]*dependencyv1alpha1.AddOnInstallationStatus, error) {
	all := map[types.NamespacedName]*dependencyv1alpha1.AddOnInstallationStatus{}
	for next := ""; ; {
		page := &dependencyv1alpha1.AddOnInstallationList{}
		err := u.hub.List(ctx, page, client.Limit(bulk.PageSize), client.Continue(next))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list AddOnInstallations: %w", err)
		}
		for i := range page.Items {
			all[client.ObjectKeyFromObject(&page.Items[i])] = &page.Items[i].Status
		}
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

func isInstalled(addOn *unstructured.Unstructured) bool {
	return addOn.GetLabels()[addonv1alpha1.InstalledByLabel] == addonv1alpha1.InstalledByInterlock && addOn.GetDeletionTimestamp() == nil
}

// isTakenOver reports whether an add-on is not, or not any more, the one that Interlock has installed. One whose creation was not stored yet
// has no UID there.
func isTakenOver(addOn *unstructured.Unstructured, stored *dependencyv1alpha1.AddOnInstallationStatus) bool {
	return stored == nil || stored.Phase == dependencyv1alpha1.PhaseKept || stored.UID != "" && stored.UID != addOn.GetUID() ||
		addOn.GetGeneration() > max(stored.Generation, 1) ||
		installation.TakenOver(addOn.GetManagedFields(), addonv1alpha1.InstalledByInterlock)
}

// handOver removes the label of an add-on by which Interlock may remove it.
func (u *uninstallation) handOver(ctx context.Context, addOn *unstructured.Unstructured) (bool, error) {
	if !isInstalled(addOn) {
		return false, nil
	}
	return true, u.patch(ctx, addOn, map[string]any{"labels": map[string]any{addonv1alpha1.InstalledByLabel: nil}})
}

// removeInstalled deletes an add-on, unless another writer has taken it over. changed is whether it was handed over or deleted.
func (u *uninstallation) removeInstalled(
	ctx context.Context, addOn *unstructured.Unstructured, stored *dependencyv1alpha1.AddOnInstallationStatus,
) (removed, changed bool, err error) {
	if !isInstalled(addOn) || isTakenOver(addOn, stored) {
		changed, err = u.handOver(ctx, addOn)
		return false, changed, err
	}
	if err := u.patch(ctx, addOn, map[string]any{"annotations": map[string]any{addonv1alpha1.ForceAnnotation: forced}}); err != nil {
		return false, false, err
	}
	uid, version := addOn.GetUID(), addOn.GetResourceVersion() // after the patch
	return true, true, u.hub.Delete(ctx, addOn, client.Preconditions{UID: &uid, ResourceVersion: &version})
}

// patch writes metadata of an add-on, in the state that was read.
func (u *uninstallation) patch(ctx context.Context, addOn *unstructured.Unstructured, metadata map[string]any) error {
	metadata["resourceVersion"] = addOn.GetResourceVersion()
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	return u.hub.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(holder))
}

// deletePlacements deletes the namespace of Interlock's Placements. Open Cluster Management then removes the add-ons that only these
// have installed.
func (u *uninstallation) deletePlacements(ctx context.Context) error {
	namespace := &corev1.Namespace{}
	err := u.hub.Get(ctx, client.ObjectKey{Name: addonv1alpha1.InstallNamespace}, namespace)
	if apierrors.IsNotFound(err) || err == nil && namespace.Labels[names.ManagedBy] != names.AddonManager {
		return nil // not there, or not Interlock's
	}
	if err == nil {
		err = client.IgnoreNotFound(u.hub.Delete(ctx, namespace, client.Preconditions{UID: &namespace.UID}))
	}
	if err != nil {
		return fmt.Errorf("delete namespace %s: %w", addonv1alpha1.InstallNamespace, err)
	}
	return nil
}
