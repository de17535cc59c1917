package ocm

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"
	"open-cluster-management.io/addon-framework/pkg/lease"
)

// AddOnNamespace is where add-ons run on a managed cluster, unless they say otherwise.
const AddOnNamespace = "open-cluster-management-agent-addon"

// RenewLease is all that OCM sees of the agent of an add-on in Lease mode: it
// renews the add-on's lease until the context ends, and then leaves it as it is,
// as an agent that dies does.
//
// addon-framework's updater renews when it starts and then every 60 seconds, which
// cannot be changed. It is started anew at every interval, for those tests that
// have shortened the time for which a lease is believed.
func (m *ManagedCluster) RenewLease(ctx context.Context, addOn string, interval time.Duration) error {
	managed, err := kubernetes.NewForConfig(m.Config)
	if err != nil {
		return err
	}
	updater := lease.NewLeaseUpdater(managed, addOn, AddOnNamespace)
	for ctx.Err() == nil {
		turn, cancel := context.WithTimeout(ctx, interval)
		updater.Start(turn)
		cancel()
	}
	return nil
}
