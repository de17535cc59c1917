package uninstall

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// withdrawLabels withdraws the labels with which Interlock installed add-ons. OCM then removes these add-ons. It returns
// the numbers of withdrawn labels, and of labels that stay.
func (u *uninstallation) withdrawLabels(
	ctx context.Context, stored map[types.NamespacedName]*dependencyv1alpha1.AddOnInstallationStatus,
) (withdrawn, stay int, err error) {
	for key, status := range stored {
		labeled, err := u.isLabeled(ctx, key, status.ClusterUID)
		if err != nil {
			return withdrawn, stay, err
		}
		if labeled && status.Phase != dependencyv1alpha1.PhaseKept {
			if labeled, err = u.withdrawLabel(ctx, key, status.ClusterUID); err != nil {
				return withdrawn, stay, err
			}
			if !labeled {
				withdrawn++
			}
		}
		if labeled {
			stay++
		}
	}
	return withdrawn, stay, nil
}

// isLabeled reports whether a managed cluster has the label of an add-on. A new cluster with the same name has no labels
// of Interlock.
func (u *uninstallation) isLabeled(ctx context.Context, addOn types.NamespacedName, uid types.UID) (bool, error) {
	cluster := &clusterv1.ManagedCluster{}
	switch err := u.hub.Get(ctx, client.ObjectKey{Name: addOn.Namespace}, cluster); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read ManagedCluster %s: %w", addOn.Namespace, err)
	}
	return cluster.UID == uid && fleet.HasInstallLabel(cluster, addOn.Name), nil
}

// withdrawLabel withdraws a label. It returns true if the managed cluster still has the label, because another writer has
// set it too.
func (u *uninstallation) withdrawLabel(ctx context.Context, addOn types.NamespacedName, uid types.UID) (bool, error) {
	cluster := fleet.Unlabeled(addOn.Namespace, uid)
	if err := u.hub.Apply(ctx, client.ApplyConfigurationFromUnstructured(cluster), fleet.InstallOwner(addOn.Name)); err != nil {
		return true, fmt.Errorf("withdraw the label of %s from ManagedCluster %s: %w", addOn.Name, addOn.Namespace, err)
	}
	return fleet.HasInstallLabel(cluster, addOn.Name), nil
}
