package ocm

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"
	"open-cluster-management.io/addon-framework/pkg/lease"
)

// AddOnNamespace is the default namespace of add-ons on a managed cluster.
const AddOnNamespace = "open-cluster-management-agent-addon"

// RenewLease stands in for the agent of an add-on in Lease mode. OCM only sees that the agent renews the add-on's
// lease. RenewLease renews it until the context ends. Then it leaves the lease in place, like an agent that dies.
//
// addon-framework's updater renews when it starts and then every 60 seconds, which cannot be changed. RenewLease
// restarts it at every interval, for tests with a shorter lease time.
func (m *ManagedCluster) RenewLease(ctx context.Context, addOn string, interval time.Duration) error {
	managed, err := kubernetes.NewForConfig(m.Config)
	if err != nil {
		return err
	}
	updater := lease.NewLeaseUpdater(managed, addOn, AddOnNamespace)
	for ctx.Err() == nil {
		round, cancel := context.WithTimeout(ctx, interval)
		updater.Start(round)
		cancel()
	}
	return nil
}
