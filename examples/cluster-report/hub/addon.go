package hub

import (
	"context"
	"embed"
	"fmt"

	"k8s.io/client-go/rest"
	"open-cluster-management.io/addon-framework/pkg/addonfactory"
	"open-cluster-management.io/addon-framework/pkg/addonmanager"
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/author/dependent"
)

// The templates of the objects to install on a managed cluster.
//
//go:embed manifests/*.yaml
var templates embed.FS

// newAddOn returns the add-on for addon-framework, without its dependencies.
func newAddOn(image string) (agent.AgentAddon, error) {
	return addonfactory.NewAgentAddonFactory(Name, templates, "manifests").
		WithAgentHealthProber(&agent.HealthProber{Type: agent.HealthProberTypeLease}).
		WithGetValuesFuncs(func(*clusterv1.ManagedCluster, *addonv1beta1.ManagedClusterAddOn) (addonfactory.Values, error) {
			return addonfactory.Values{"Image": image, "ServiceAccount": Name, "ServiceAccountNamespace": accountNamespace}, nil
		}).
		BuildTemplateAgentAddon()
}

// startAddOn starts addon-framework's manager, which installs the add-on on each
// cluster once its dependencies are satisfied.
func startAddOn(ctx context.Context, config *rest.Config, image string) error {
	addOn, err := newAddOn(image)
	if err != nil {
		return fmt.Errorf("read the manifests: %w", err)
	}
	reader, err := dependent.NewHub(config)
	if err != nil {
		return err
	}
	manager, err := addonmanager.New(config)
	if err != nil {
		return fmt.Errorf("create addon-framework's manager: %w", err)
	}
	// Only this line is necessary for dependencies.
	if err := manager.AddAgent(dependent.Wrap(addOn, dependent.Ordered(reader))); err != nil {
		return fmt.Errorf("register the add-on: %w", err)
	}
	return manager.Start(ctx)
}
