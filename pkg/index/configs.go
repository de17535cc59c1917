package index

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// configurations is the resource of AddOnDeploymentConfigs.
const configurations = "addondeploymentconfigs"

// reference is a configuration that a ClusterManagementAddOn names.
type reference struct{ group, resource, namespace, name string }

// defaultsOf are the default configurations of a ClusterManagementAddOn, of either version of its API.
func defaultsOf(registration map[string]any) []reference {
	supported, _, _ := unstructured.NestedSlice(registration, "spec", "supportedConfigs")
	defaults, _, _ := unstructured.NestedSlice(registration, "spec", "defaultConfigs")
	return referencesOf(append(supported, defaults...))
}

// configsOfPlacements are the configurations of add-ons that placements install.
func configsOfPlacements(registration map[string]any) (all []reference) {
	placements, _, _ := unstructured.NestedSlice(registration, "spec", "installStrategy", "placements")
	for _, one := range placements {
		placement, _ := one.(map[string]any)
		configs, _, _ := unstructured.NestedSlice(placement, "configs")
		all = append(all, referencesOf(configs)...)
	}
	return all
}

func referencesOf(configs []any) (all []reference) {
	for _, one := range configs {
		config, _ := one.(map[string]any)
		var found reference
		found.group, _ = config["group"].(string)
		found.resource, _ = config["resource"].(string)
		if byDefault, is := config["defaultConfig"].(map[string]any); is {
			config = byDefault
		}
		found.namespace, _ = config["namespace"].(string)
		if found.name, _ = config["name"].(string); found.name != "" {
			all = append(all, found)
		}
	}
	return all
}

// DefaultTemplates are the names of the AddOnTemplates that a ClusterManagementAddOn names by default.
func DefaultTemplates(registration *unstructured.Unstructured) (names []string) {
	for _, one := range defaultsOf(registration.Object) {
		if one.group == declaration.Templates.Group && one.resource == declaration.Templates.Resource {
			names = append(names, one.name)
		}
	}
	return names
}

// Configures reports whether a ClusterManagementAddOn names an AddOnDeploymentConfig: by default, or for a Placement.
func Configures(config, registration *unstructured.Unstructured) bool {
	named := reference{addonv1alpha1.GroupVersion.Group, configurations, config.GetNamespace(), config.GetName()}
	return slices.Contains(append(defaultsOf(registration.Object), configsOfPlacements(registration.Object)...), named)
}

// HasConfigurations reports whether a ClusterManagementAddOn names any AddOnDeploymentConfig.
func HasConfigurations(registration *unstructured.Unstructured) bool {
	all := append(defaultsOf(registration.Object), configsOfPlacements(registration.Object)...)
	return slices.ContainsFunc(all, func(one reference) bool {
		return one.group == addonv1alpha1.GroupVersion.Group && one.resource == configurations
	})
}
