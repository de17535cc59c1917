package index

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// configurations is the resource of AddOnDeploymentConfigs.
const configurations = "addondeploymentconfigs"

// reference identifies a configuration that a ClusterManagementAddOn names.
type reference struct{ group, resource, namespace, name string }

// defaultsOf returns the default configurations of a ClusterManagementAddOn. It reads both versions of its API.
func defaultsOf(registration map[string]any) []reference {
	supported, _, _ := unstructured.NestedSlice(registration, "spec", "supportedConfigs")
	defaults, _, _ := unstructured.NestedSlice(registration, "spec", "defaultConfigs")
	return referencesOf(append(supported, defaults...))
}

// placementConfigs returns the configurations of a ClusterManagementAddOn for Placements.
func placementConfigs(registration map[string]any) []reference {
	var references []reference
	placements, _, _ := unstructured.NestedSlice(registration, "spec", "installStrategy", "placements")
	for _, item := range placements {
		placement, _ := item.(map[string]any)
		configs, _, _ := unstructured.NestedSlice(placement, "configs")
		references = append(references, referencesOf(configs)...)
	}
	return references
}

func referencesOf(configs []any) []reference {
	var references []reference
	for _, item := range configs {
		config, _ := item.(map[string]any)
		var r reference
		r.group, _ = config["group"].(string)
		r.resource, _ = config["resource"].(string)
		if defaultConfig, ok := config["defaultConfig"].(map[string]any); ok {
			config = defaultConfig
		}
		r.namespace, _ = config["namespace"].(string)
		if r.name, _ = config["name"].(string); r.name != "" {
			references = append(references, r)
		}
	}
	return references
}

// Configures reports whether a ClusterManagementAddOn uses an AddOnDeploymentConfig: by default, or for a Placement.
func Configures(config, registration *unstructured.Unstructured) bool {
	desired := reference{addonv1alpha1.GroupVersion.Group, configurations, config.GetNamespace(), config.GetName()}
	return slices.Contains(append(defaultsOf(registration.Object), placementConfigs(registration.Object)...), desired)
}

// HasConfigurations reports whether a ClusterManagementAddOn names any AddOnDeploymentConfig.
func HasConfigurations(registration *unstructured.Unstructured) bool {
	references := append(defaultsOf(registration.Object), placementConfigs(registration.Object)...)
	return slices.ContainsFunc(references, func(config reference) bool {
		return config.group == addonv1alpha1.GroupVersion.Group && config.resource == configurations
	})
}
