package uninstall

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/hub/bulk"
)

// The values of Options.Installed: the treatment of add-ons that Interlock has installed because others need them.
const (
	// Keep hands them over to the users of the hub.
	Keep = "keep"
	// Remove removes them, except add-ons that other writers have taken over.
	Remove = "remove"
)

// forced is the reason that deletions give to protection.
const forced = "Interlock is being uninstalled"

// settleInstalled hands over or removes the add-ons that Interlock has installed. At the end it deletes the
// AddOnInstallations, because Interlock removes nothing without them.
func (u *uninstallation) settleInstalled(ctx context.Context) (string, error) {
	settle := u.handOverAll
	if u.options.Installed == Remove {
		settle = u.removeAll
	}
	summary, err := settle(ctx)
	if err != nil {
		return "", err
	}
	deleted, err := u.deleteOwn(ctx, dependencyv1alpha1.InstallationKind, "AddOnInstallations")
	return summary + "; " + deleted, err
}

func (u *uninstallation) handOverAll(ctx context.Context) (string, error) {
	cleaned, _, err := u.cleanAll(ctx, "installed", u.handOver)
	return fmt.Sprintf("%d ManagedClusterAddOns stay, and are not Interlock's any more; labels of ManagedClusters stay", cleaned), err
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
	if err != nil {
		return "", err
	}
	withdrawn, stay, err := u.withdrawLabels(ctx, stored)
	return fmt.Sprintf("%d ManagedClusterAddOns deleted, %d handed over because other writers have changed them; %d labels of ManagedClusters "+
		"withdrawn, %d stay because other writers have set them or changed the add-on", deleted.Load(), settled-deleted.Load(), withdrawn, stay), err
}

// installations returns the statuses of the AddOnInstallations, by the keys of the add-ons. It returns none for a hub
// without their CRD.
func (u *uninstallation) installations(ctx context.Context) (map[types.NamespacedName]*dependencyv1alpha1.AddOnInstallationStatus, error) {
	statuses := map[types.NamespacedName]*dependencyv1alpha1.AddOnInstallationStatus{}
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
			statuses[client.ObjectKeyFromObject(&page.Items[i])] = &page.Items[i].Status
		}
		if next = page.Continue; next == "" {
			return statuses, nil
		}
	}
}

func isInstalled(addOn *unstructured.Unstructured) bool {
	return addOn.GetLabels()[addonv1alpha1.InstalledByLabel] == addonv1alpha1.InstalledByInterlock && addOn.GetDeletionTimestamp() == nil
}

// isTakenOver reports whether Interlock did not install the add-on, or another writer has taken it over. The status has no
// UID if the creation was not stored yet.
func isTakenOver(addOn *unstructured.Unstructured, stored *dependencyv1alpha1.AddOnInstallationStatus) bool {
	return stored == nil || stored.Phase == dependencyv1alpha1.PhaseKept || stored.UID != "" && stored.UID != addOn.GetUID() ||
		addOn.GetGeneration() > max(stored.Generation, 1) ||
		installation.TakenOver(addOn.GetManagedFields(), addonv1alpha1.InstalledByInterlock)
}

// handOver removes the label of an add-on that lets Interlock remove it.
func (u *uninstallation) handOver(ctx context.Context, addOn *unstructured.Unstructured) (bool, error) {
	if !isInstalled(addOn) {
		return false, nil
	}
	return true, u.patch(ctx, addOn, map[string]any{"labels": map[string]any{addonv1alpha1.InstalledByLabel: nil}})
}

// removeInstalled deletes an add-on, unless another writer has taken it over. changed is true if it was handed over or
// deleted.
func (u *uninstallation) removeInstalled(
	ctx context.Context, addOn *unstructured.Unstructured, stored *dependencyv1alpha1.AddOnInstallationStatus,
) (removed, changed bool, err error) {
	if !isInstalled(addOn) || isTakenOver(addOn, stored) {
		changed, err = u.handOver(ctx, addOn)
		return false, changed, err
	}
	if addOn.GetAnnotations()[addonv1alpha1.ForceAnnotation] != forced { // an interrupted uninstallation has set it
		if err := u.patch(ctx, addOn, map[string]any{"annotations": map[string]any{addonv1alpha1.ForceAnnotation: forced}}); err != nil {
			return false, false, err
		}
	}
	uid, version := addOn.GetUID(), addOn.GetResourceVersion() // after the patch
	return true, true, u.hub.Delete(ctx, addOn, client.Preconditions{UID: &uid, ResourceVersion: &version})
}

// patch writes metadata of an add-on in the state that was read.
func (u *uninstallation) patch(ctx context.Context, addOn *unstructured.Unstructured, metadata map[string]any) error {
	metadata["resourceVersion"] = addOn.GetResourceVersion()
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	return u.hub.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(holder))
}
