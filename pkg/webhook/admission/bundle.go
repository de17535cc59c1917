package admission

import (
	"fmt"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// warnIneffectiveBundle warns if a registration declares its add-on a bundle, but the annotation has no effect, or the bundle requires
// no add-on. raw is the same registration as the client wrote it.
func (v *Validator) warnIneffectiveBundle(raw []byte, addOn *addonv1alpha1.ClusterManagementAddOn) []string {
	var bundle string
	if err := decodePart(raw, &bundle, "metadata", "annotations", addonv1alpha1.BundleAnnotation); err != nil || bundle != "true" {
		return nil
	}
	reason := ""
	switch {
	case declaration.UsesTemplates(withConfigs(raw, addOn)):
		reason = "it is deployed from AddOnTemplates, so it has an agent: the annotation bundle has no effect"
	case !v.Lifecycle:
		reason = "it is no bundle on this hub, because Interlock's lifecycle is off (--lifecycle)"
	case !slices.ContainsFunc(declaration.Read(addOn).Dependencies, requires):
		reason = "it is a bundle that requires nothing, so it is available at once"
	default:
		return nil
	}
	return []string{fmt.Sprintf("add-on '%s': %s", text.Name(addOn.Name), reason)}
}

func requires(dependency addonv1alpha1.AddonDependency) bool {
	return dependency.Type != addonv1alpha1.DependencyTypeOptional
}
