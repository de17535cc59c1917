package uninstall

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/gaterule"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/rule/installer"
	"open-cluster-management.io/interlock/pkg/hub/bulk"
	"open-cluster-management.io/interlock/pkg/hub/records"
	"open-cluster-management.io/interlock/pkg/hub/reports"
	"open-cluster-management.io/interlock/pkg/hub/setup/agentaddon"
)

// removeAgent deletes addon-agent as an add-on, and waits until OCM has removed it from the managed clusters. It waits for
// half of the timeout at most, because an unreachable cluster never confirms the removal.
func (u *uninstallation) removeAgent(ctx context.Context) (string, error) {
	hub, err := metadata.NewForConfig(u.config)
	if err != nil {
		return "", fmt.Errorf("create metadata client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, u.options.Timeout/2)
	defer cancel()
	if err := agentaddon.Remove(ctx, hub); err != nil {
		return "", err
	}
	return "no addon-agent is left as an add-on on any managed cluster", nil
}

func (u *uninstallation) removeGuard(ctx context.Context) (string, error) {
	served, err := discovery.NewDiscoveryClientForConfig(u.config)
	if err != nil {
		return "", fmt.Errorf("create discovery client: %w", err)
	}
	if err := errors.Join(installer.Remove(ctx, &guard.Rule, u.hub, served), installer.Remove(ctx, &gaterule.Rule, u.hub, served)); err != nil {
		return "", err
	}
	return "neither the guard nor the gate rule is left", nil
}

// record makes sure that the CRD can be restored without a loss.
func (u *uninstallation) record(ctx context.Context) (string, error) {
	grafted, err := graft.Grafted(ctx, u.hub)
	if err != nil || !grafted {
		return "the CRD of ClusterManagementAddOns is not grafted", err
	}
	if err := records.Require(ctx, u.hub); err != nil {
		return "", err
	}
	return "annotations have all that is declared by field", nil
}

// restoreCRD restores the CRD of ClusterManagementAddOns. `addon-manager webhook` is removed later, so conversion is
// served meanwhile.
func (u *uninstallation) restoreCRD(ctx context.Context) (string, error) {
	if _, err := u.record(ctx); err != nil { // for declarations since the first step
		return "", err
	}
	changed, err := graft.Restore(ctx, u.hub)
	switch {
	case err != nil:
		return "", err
	case changed:
		return "the CRD of ClusterManagementAddOns is as OCM made it", nil
	}
	return "the CRD of ClusterManagementAddOns was not grafted", nil
}

// deleteFacts deletes all ManagedClusterFacts. The tool that deployed their CRD deletes
// the CRD.
func (u *uninstallation) deleteFacts(ctx context.Context) (string, error) {
	return u.deleteOwn(ctx, dependencyv1alpha1.Kind, "ManagedClusterFacts")
}

// deleteReports deletes all AddOnDependencyReports, and the AddOnFleetReport.
func (u *uninstallation) deleteReports(ctx context.Context) (string, error) {
	result, err := u.deleteOwn(ctx, dependencyv1alpha1.ReportKind, "AddOnDependencyReports")
	if err != nil {
		return "", err
	}
	wasStored, err := reports.DeleteFleetReport(ctx, u.hub, u.hub)
	if wasStored {
		result += ", and the AddOnFleetReport"
	}
	return result, err
}

// deleteOwn deletes all objects of a kind that belongs to Interlock.
func (u *uninstallation) deleteOwn(ctx context.Context, kind schema.GroupVersionKind, plural string) (string, error) {
	deleted, err := bulk.Delete(ctx, u.hub, u.hub, kind, client.ListOptions{})
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return "", err
	}
	return fmt.Sprintf("%d %s deleted", deleted, plural), nil
}
