// Package agentaddon manages addon-agent as an add-on of Open Cluster
// Management. OCM deploys it from the objects in deploy/agent-addon. This package
// gives each agent its rights on the hub, and removes the add-on.
package agentaddon

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/names"
)

// Name is the name of the add-on: of its ClusterManagementAddOn, its
// AddOnTemplate, its ManagedClusterAddOns, and its lease on every managed cluster.
const Name = names.AgentAddOn

// Options configure the management of the add-on.
type Options struct {
	// Install lets addon-manager apply the objects of deploy/agent-addon. It is nil where
	// they are applied by other means.
	Install *Installation
}

// Installation is the deprecated way to install the add-on.
type Installation struct {
	// Image is the container image of addon-agent.
	Image string
	// Placement selects the managed clusters. Without a name it selects none. Then an
	// administrator creates the ManagedClusterAddOn on each cluster.
	Placement types.NamespacedName
}

// SetupWithManager adds the controller that grants rights to agents, and the installer of
// the add-on if it is configured. Both run only in the leader.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	hub, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	if err := (&granter{live: mgr.GetAPIReader(), hub: hub}).setupWithManager(mgr); err != nil {
		return err
	}
	if options.Install == nil {
		return nil
	}
	objects, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	if err := mgr.Add(&installer{hub: objects, installation: *options.Install}); err != nil {
		return fmt.Errorf("add the agent's installer: %w", err)
	}
	return nil
}
