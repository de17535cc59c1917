package simulator

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// StoreInstallation stores that Interlock has installed an add-on on a managed cluster for another add-on.
func (h *Hub) StoreInstallation(ctx context.Context, cluster *clusterv1.ManagedCluster, addOn, requestedBy string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"labels": map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock},
	}})
	if err != nil {
		return err
	}
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Name, Name: addOn}}
	if err := h.Client.Patch(ctx, installed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("label %s on %s: %w", addOn, cluster.Name, err)
	}
	installation := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Name, Name: addOn}}
	installation.Spec.RequestedBy = []dependencyv1alpha1.InstallationRequest{
		{AddOn: requestedBy, Removal: addonv1alpha1.DependencyRemovalWithLastDependent},
	}
	now := metav1.Now()
	installation.Status = dependencyv1alpha1.AddOnInstallationStatus{
		Phase:      dependencyv1alpha1.PhaseInstalled,
		Since:      &now,
		UID:        installed.UID,
		Generation: installed.Generation,
		ClusterUID: cluster.UID,
	}
	if err := h.Client.Create(ctx, installation); err != nil {
		return fmt.Errorf("store the installation of %s on %s: %w", addOn, cluster.Name, err)
	}
	return nil
}
