package declaration

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// TemplatePath is where an AddOnTemplate declares dependencies.
var TemplatePath = field.NewPath("metadata", "annotations").Key(addonv1alpha1.TemplateDependenciesAnnotation)

// Templates is the resource of AddOnTemplates.
var Templates = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"}

// ReadTemplate reads what an AddOnTemplate declares, and whether it declares anything: even
// an empty list does. It never fails; Problems lists what is wrong.
func ReadTemplate(template *addonv1alpha1.AddOnTemplate) (declaration Declaration, declares bool) {
	text, annotated := template.Annotations[addonv1alpha1.TemplateDependenciesAnnotation]
	if !annotated || strings.TrimSpace(text) == "" { // as a chart without a value renders it; [] declares nothing on purpose
		return Declaration{}, false
	}
	written, err := parseAt(TemplatePath, text)
	if err != nil {
		return unreadable(TemplatePath, err), true
	}
	return declare(written), true
}

// UsesTemplates reports whether a registered add-on can be deployed from AddOnTemplates: they are
// among its supported configs, or one is a config of a Placement. v1beta1 has no supported configs
// apart from the defaults.
func UsesTemplates(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	//nolint:staticcheck // v1alpha1 has no other field for it
	return slices.ContainsFunc(addOn.Spec.SupportedConfigs, func(config ocmv1alpha1.ConfigMeta) bool {
		return config.ConfigGroupResource == Templates
	}) || slices.ContainsFunc(addOn.Spec.InstallStrategy.Placements, func(placement ocmv1alpha1.PlacementStrategy) bool {
		return slices.ContainsFunc(placement.Configs, func(config ocmv1alpha1.AddOnConfig) bool { return config.ConfigGroupResource == Templates })
	})
}

// NamedTemplates are the AddOnTemplates, ascending, that a registered add-on has as a default or on a Placement.
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
