// Package agent is the part of the add-on that runs on a managed cluster. It only
// reports that it runs. Add the work of your add-on here.
package agent

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"open-cluster-management.io/addon-framework/pkg/lease"
)

// AddOn is the name of the add-on and of its lease.
const AddOn = "cluster-report"

// Run renews the add-on's lease until the context ends. The lease shows OCM and
// Interlock that the add-on is available.
func Run(ctx context.Context, config *rest.Config, namespace string) error {
	managed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	lease.NewLeaseUpdater(managed, AddOn, namespace).Start(ctx)
	return nil
}
