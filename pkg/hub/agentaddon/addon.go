// Package agentaddon runs addon-agent on every managed cluster as an add-on of
// Open Cluster Management: it registers it, lets OCM deploy it, gives its
// instances their rights on the hub, and can take all of that away again.
package agentaddon

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"open-cluster-management.io/addon-framework/pkg/addonmanager/constants"
	"open-cluster-management.io/addon-framework/pkg/agent"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// Name is what the add-on is called: its ClusterManagementAddOn, its
// ManagedClusterAddOns, and its lease on every managed cluster.
const Name = "interlock-agent"

// FieldManager is the name under which addon-manager owns what it applies.
const FieldManager = "interlock-addon-manager"

// The label by which objects are recognized as made by addon-manager.
const (
	managedByLabel = "app.kubernetes.io/managed-by"
	managedByValue = "interlock-addon-manager"
)

var configResource = schema.GroupVersionResource{
	Group: addonv1beta1.GroupName, Version: addonv1beta1.GroupVersion.Version, Resource: "addondeploymentconfigs",
}

// addOn is addon-agent, as addon-framework wants to know it.
type addOn struct {
	// image is what runs where no configuration says otherwise.
	image   string
	hub     kubernetes.Interface
	configs utils.AddOnDeploymentConfigGetter
}

var _ agent.AgentAddon = (*addOn)(nil)

// Manifests implements agent.AgentAddon. An error names the object and field
// that cannot be used; it ends up in the add-on's condition ManifestApplied.
func (a *addOn) Manifests(_ context.Context, cluster *clusterv1.ManagedCluster, installed *addonv1beta1.ManagedClusterAddOn) ([]runtime.Object, error) {
	config, err := utils.GetDesiredAddOnDeploymentConfig(installed, a.configs)
	if err != nil {
		return nil, fmt.Errorf("read the AddOnDeploymentConfig of %s on %s: %w", installed.Name, cluster.Name, err)
	}
	settled, err := settle(a.image, cluster, installed, config)
	if err != nil {
		return nil, err
	}
	return render(settled)
}

// GetAgentAddonOptions implements agent.AgentAddon.
func (a *addOn) GetAgentAddonOptions() agent.AgentAddonOptions {
	return agent.AgentAddonOptions{
		AddonName: Name,
		Registration: &agent.RegistrationOption{
			Configurations:   agent.KubeClientSignerConfigurations(Name, Name),
			CSRApproveCheck:  approve,
			PermissionConfig: permissions{hub: a.hub}.grant,
		},
		HealthProber:          &agent.HealthProber{Type: agent.HealthProberTypeLease},
		AgentInstallNamespace: a.installNamespace,
		HostedModeEnabled:     true,
		HostedModeInfoFunc:    constants.GetHostedModeInfo,
		SupportedConfigGVRs:   []schema.GroupVersionResource{configResource},
		// An image from the wrong registry is not tried first and corrected later.
		ConfigCheckEnabled:              true,
		AgentDeployTriggerClusterFilter: registriesChanged,
	}
}

func (a *addOn) installNamespace(_ context.Context, installed *addonv1beta1.ManagedClusterAddOn) (string, error) {
	config, err := utils.GetDesiredAddOnDeploymentConfig(installed, a.configs)
	if err != nil {
		return "", fmt.Errorf("read the AddOnDeploymentConfig of %s on %s: %w", installed.Name, installed.Namespace, err)
	}
	return namespaceOf(installed, config)
}

// registriesChanged reports whether a managed cluster now pulls images from
// elsewhere.
func registriesChanged(before, after *clusterv1.ManagedCluster) bool {
	const key = clusterv1.ClusterImageRegistriesAnnotationKey
	return before.Annotations[key] != after.Annotations[key]
}
