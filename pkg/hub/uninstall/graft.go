package uninstall

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/graft"
)

// ungrafter gives the CRD of ClusterManagementAddOns back. `addon-manager
// webhook` is removed later, so conversion is served meanwhile.
type ungrafter struct {
	hub client.Client
}

func (u *ungrafter) run(ctx context.Context) (string, error) {
	changed, err := graft.Restore(ctx, u.hub)
	switch {
	case err != nil:
		return "", err
	case changed:
		return "the CRD of ClusterManagementAddOns is as OCM made it", nil
	}
	return "the CRD of ClusterManagementAddOns was not grafted", nil
}
