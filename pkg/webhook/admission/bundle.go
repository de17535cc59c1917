package admission

import (
	"fmt"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// inVainBundle warns of a registration that says that its add-on is a bundle, where that has no effect, or requires nothing. raw is
// the registration as it is written.
func (v *Validator) inVainBundle(raw []byte, addOn *addonv1alpha1.ClusterManagementAddOn) []string {
	var bundle string
	if err := decodePart(raw, &bundle, "metadata", "annotations", addonv1alpha1.BundleAnnotation); err != nil || bundle != "true" {
		return nil
	}
	because := ""
	switch {
	case declaration.UsesTemplates(withConfigs(raw, addOn)):
		because = "it is deployed from AddOnTemplates, so it has an agent: the annotation bundle has no effect"
	case !v.Lifecycle:
		because = "it is no bundle on this hub, because Interlock's lifecycle is off (--lifecycle)"
	case !slices.ContainsFunc(declaration.Read(addOn).Dependencies, requires):
		because = "it is a bundle that requires nothing, so it is available at once"
	default:
		return nil
	}
	return []string{fmt.Sprintf("add-on '%s': %s", text.Name(addOn.Name), because)}
}

func requires(dependency addonv1alpha1.AddonDependency) bool {
	return dependency.Type != addonv1alpha1.DependencyTypeOptional
}
