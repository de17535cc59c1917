package agentaddon

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/deploy"
	"open-cluster-management.io/interlock/pkg/names"
)

// installer applies the objects of deploy/agent-addon. It implements the deprecated flag
// --install-agent, and will be removed with that flag.
type installer struct {
	hub          dynamic.Interface
	installation Installation
}

// Start implements manager.Runnable. It tries again until the hub accepts the objects.
func (i *installer) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("agent-add-on")
	logger.Info("--install-agent is deprecated: apply deploy/agent-addon, or set agent.install of the chart, and use --grant-agent-rights instead")
	retry := wait.Backoff{
		Duration: time.Second,
		Factor:   2,
		Cap:      time.Minute,
		Steps:    7,
	}
	reported := ""
	for {
		err := i.apply(ctx)
		if err == nil {
			logger.Info("addon-agent is registered as an add-on", "addOn", Name, "image", i.installation.Image, "placement", i.installation.Placement.String())
			return nil
		}
		if ctx.Err() == nil && err.Error() != reported {
			reported = err.Error()
			logger.Error(err, "addon-agent is not installed; it is tried again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retry.Step()):
		}
	}
}

func (i *installer) apply(ctx context.Context) error {
	template, err := i.template()
	if err != nil {
		return err
	}
	registration, err := i.registration()
	if err != nil {
		return err
	}
	options := metav1.ApplyOptions{FieldManager: names.AddonManager, Force: true}
	if _, err := i.hub.Resource(templates).Apply(ctx, Name, template, options); err != nil {
		return fmt.Errorf("apply AddOnTemplate %s: %w", Name, err)
	}
	if _, err := i.hub.Resource(registrations).Apply(ctx, Name, registration, options); err != nil {
		return fmt.Errorf("apply ClusterManagementAddOn %s: %w", Name, err)
	}
	return nil
}

var imageLine = regexp.MustCompile(`(?m)^( *image: ).*$`)

// template returns the AddOnTemplate with the configured image.
func (i *installer) template() (*unstructured.Unstructured, error) {
	content := imageLine.ReplaceAllStringFunc(string(deploy.AgentAddOnTemplate), func(line string) string {
		return imageLine.FindStringSubmatch(line)[1] + strconv.Quote(i.installation.Image)
	})
	template := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(content), &template.Object); err != nil {
		return nil, fmt.Errorf("read deploy/agent-addon/addontemplate.yaml: %w", err)
	}
	return template, nil
}

// registration returns the ClusterManagementAddOn with the configured placement.
func (i *installer) registration() (*unstructured.Unstructured, error) {
	registration := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(deploy.AgentClusterManagementAddOn, &registration.Object); err != nil {
		return nil, fmt.Errorf("read deploy/agent-addon/clustermanagementaddon.yaml: %w", err)
	}
	registration.SetLabels(map[string]string{names.ManagedBy: names.AddonManager})
	strategy := map[string]any{"type": ocmv1alpha1.AddonInstallStrategyManual}
	if i.installation.Placement.Name != "" {
		strategy = map[string]any{"type": ocmv1alpha1.AddonInstallStrategyPlacements, "placements": []any{
			map[string]any{"namespace": i.installation.Placement.Namespace, "name": i.installation.Placement.Name},
		}}
	}
	return registration, unstructured.SetNestedMap(registration.Object, strategy, "spec", "installStrategy")
}
