package declaration

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// TemplatePath is the path of the declaration in an AddOnTemplate.
var TemplatePath = field.NewPath("metadata", "annotations").Key(addonv1alpha1.TemplateDependenciesAnnotation)

// Templates is the resource of AddOnTemplates.
var Templates = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"}

// ReadTemplate reads the declaration of an AddOnTemplate. declares is false without a declaration, but true for
// an empty list. It never fails: an invalid declaration has Problems.
func ReadTemplate(template *addonv1alpha1.AddOnTemplate) (declaration Declaration, declares bool) {
	text, annotated := template.Annotations[addonv1alpha1.TemplateDependenciesAnnotation]
	if !annotated || strings.TrimSpace(text) == "" { // a chart without a value renders blanks
		return Declaration{}, false
	}
	written, err := parseAt(TemplatePath, text)
	if err != nil {
		return unreadable(TemplatePath, err), true
	}
	return declare(written), true
}

// UsesTemplates reports whether a registered add-on can be deployed from AddOnTemplates: its supported configs have
// them, or the configs of a Placement. v1beta1 has no supported configs apart from the defaults.
func UsesTemplates(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	//nolint:staticcheck // v1alpha1 has no other field for it
	return slices.ContainsFunc(addOn.Spec.SupportedConfigs, func(config ocmv1alpha1.ConfigMeta) bool {
		return config.ConfigGroupResource == Templates
	}) || slices.ContainsFunc(addOn.Spec.InstallStrategy.Placements, func(placement ocmv1alpha1.PlacementStrategy) bool {
		return slices.ContainsFunc(placement.Configs, func(config ocmv1alpha1.AddOnConfig) bool { return config.ConfigGroupResource == Templates })
	})
}

// NamedTemplates returns the AddOnTemplates that a registered add-on has as a default or for a Placement, in ascending order.
func NamedTemplates(addOn *addonv1alpha1.ClusterManagementAddOn) (names []string) {
	for _, config := range addOn.Spec.SupportedConfigs { //nolint:staticcheck // v1alpha1 has no other field for it
		if config.ConfigGroupResource == Templates && config.DefaultConfig != nil {
			names = append(names, config.DefaultConfig.Name)
		}
	}
	for _, placement := range addOn.Spec.InstallStrategy.Placements {
		for _, config := range placement.Configs {
			if config.ConfigGroupResource == Templates {
				names = append(names, config.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
