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

// warnIneffectiveRemoval warns if a registration begins to declare a removal without effect: the lifecycle is off, or another
// registration installs the same add-on and keeps it. It only reads the other registrations from the cache.
func (v *Validator) warnIneffectiveRemoval(ctx context.Context, addOn, oldAddOn *addonv1alpha1.ClusterManagementAddOn) []string {
	dependencies := removedDependencies(addOn)
	if len(dependencies) == 0 || oldAddOn != nil && slices.Equal(dependencies, removedDependencies(oldAddOn)) {
		return nil
	}
	if !v.Lifecycle {
		return []string{fmt.Sprintf(
			"add-on '%s': removal has no effect on this hub, because Interlock's lifecycle is off (--lifecycle)", text.Name(addOn.Name))}
	}
	registered, err := v.listCached(ctx)
	if err != nil {
		return nil // it is only a warning
	}
	var warnings []string
	for _, dependency := range dependencies {
		if keeper := findKeeper(dependency, registered, addOn.Name); keeper != "" {
			warnings = append(warnings, fmt.Sprintf(
				"add-on '%s': removal of '%s' has no effect, because add-on '%s' has it installed, too, and keeps it",
				text.Name(addOn.Name), text.Name(dependency), text.Name(keeper)))
		}
	}
	return warnings
}

// removedDependencies returns the add-ons, ascending, that Interlock installs because of a registration, and removes when it no longer
// needs them.
func removedDependencies(addOn *addonv1alpha1.ClusterManagementAddOn) []string {
	return installedDependencies(addOn, declaration.Removes)
}

// findKeeper returns the first other registration that installs a dependency and keeps it. It returns an empty name if no other
// registration does.
func findKeeper(dependency string, registered []addonv1alpha1.ClusterManagementAddOn, addOn string) string {
	keeps := func(dependency *addonv1alpha1.AddonDependency) bool { return !declaration.Removes(dependency) }
	for i := range registered {
		if name := registered[i].Name; name != addOn && slices.Contains(installedDependencies(&registered[i], keeps), dependency) {
			return name
		}
	}
	return ""
}

// installedDependencies returns the add-ons, ascending, that Interlock installs because of the matching dependencies of a registration.
// It reads the declaration only if it can have such a dependency.
func installedDependencies(
	addOn *addonv1alpha1.ClusterManagementAddOn, matches func(*addonv1alpha1.AddonDependency) bool,
) []string {
	dependencies := addOn.Spec.Dependencies
	if strings.Contains(addOn.Annotations[addonv1alpha1.DependenciesAnnotation], string(addonv1alpha1.DependencyInstallAuto)) {
		dependencies = declaration.Read(addOn).Dependencies
	}
	var addOns []string
	for i := range dependencies {
		if dependency := &dependencies[i]; declaration.Installs(dependency) && matches(dependency) {
			addOns = append(addOns, declaration.Target(dependency))
		}
	}
	slices.Sort(addOns)
	return slices.Compact(addOns)
}
