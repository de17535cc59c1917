// Package agent is what the add-on runs on a managed cluster. This one only
// says that it is there; yours would do something.
package agent

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"open-cluster-management.io/addon-framework/pkg/lease"
)

// AddOn is the add-on's name, and that of its lease.
const AddOn = "cluster-report"

// Run renews the add-on's lease until the context ends. By it OCM and Interlock
// see that the add-on is available.
func Run(ctx context.Context, config *rest.Config, namespace string) error {
	managed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	lease.NewLeaseUpdater(managed, AddOn, namespace).Start(ctx)
	return nil
}
