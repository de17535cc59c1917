// Package agentaddon is about addon-agent as an add-on of Open Cluster
// Management. OCM deploys it from the objects in deploy/agent-addon. This package
// gives each agent its rights on the hub, and removes the add-on.
package agentaddon

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Name is the name of the add-on: of its ClusterManagementAddOn, its
// AddOnTemplate, its ManagedClusterAddOns, and its lease on every managed cluster.
const Name = "interlock-agent"

// SetupWithManager adds what addon-manager's leader does for the add-on.
func SetupWithManager(mgr ctrl.Manager) error {
	hub, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	return (&granter{live: mgr.GetAPIReader(), hub: hub}).setupWithManager(mgr)
}
