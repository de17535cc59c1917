package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// removedInVain warns of a registration that begins to declare a removal without an effect: where the lifecycle is off, or another
// registration has the same add-on installed, and keeps it. The latter is only looked for in the cache.
func (v *Validator) removedInVain(ctx context.Context, addOn, before *addonv1alpha1.ClusterManagementAddOn) (warnings []string) {
	removes := removed(addOn)
	if len(removes) == 0 || before != nil && slices.Equal(removes, removed(before)) {
		return nil
	}
	if !v.Lifecycle {
		return []string{fmt.Sprintf("add-on '%s': removal has no effect on this hub, because Interlock's lifecycle is off (--lifecycle)", text.Name(addOn.Name))}
	}
	registered, err := v.cached(ctx)
	if err != nil {
		return nil // it is only a warning
	}
	for _, dependency := range removes {
		if keeper := keeperOf(dependency, registered, addOn.Name); keeper != "" {
			warnings = append(warnings, fmt.Sprintf("add-on '%s': removal of '%s' has no effect, because add-on '%s' has it installed, too, and keeps it",
				text.Name(addOn.Name), text.Name(dependency), text.Name(keeper)))
		}
	}
	return warnings
}

// removed are the add-ons, ascending, that a registration has installed and removed.
func removed(addOn *addonv1alpha1.ClusterManagementAddOn) []string {
	return installed(addOn, declaration.Removes)
}

// keeperOf is the first registration besides one that has an add-on installed, and kept; empty: none does.
func keeperOf(dependency string, registered []addonv1alpha1.ClusterManagementAddOn, besides string) string {
	keeps := func(of *addonv1alpha1.AddonDependency) bool { return !declaration.Removes(of) }
	for i := range registered {
		if name := registered[i].Name; name != besides && slices.Contains(installed(&registered[i], keeps), dependency) {
			return name
		}
	}
	return ""
}

// installed are the add-ons, ascending, that a registration has installed by edges of some kind. The declaration is read only where it
// can have such an edge.
func installed(addOn *addonv1alpha1.ClusterManagementAddOn, kind func(*addonv1alpha1.AddonDependency) bool) (addOns []string) {
	dependencies := addOn.Spec.Dependencies
	if strings.Contains(addOn.Annotations[addonv1alpha1.DependenciesAnnotation], string(addonv1alpha1.DependencyInstallAuto)) {
		dependencies = declaration.Read(addOn).Dependencies
	}
	for i := range dependencies {
		if of := &dependencies[i]; declaration.Installs(of) && kind(of) {
			addOns = append(addOns, declaration.Target(of))
		}
	}
	slices.Sort(addOns)
	return slices.Compact(addOns)
}
