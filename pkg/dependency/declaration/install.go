package declaration

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var knownInstalls = []addonv1alpha1.DependencyInstall{addonv1alpha1.DependencyInstallNever, addonv1alpha1.DependencyInstallAuto}

// validateInstall checks whether Interlock can install what an edge needs, with the messages of the schema's rules.
func validateInstall(entry *addonv1alpha1.AddonDependency, path *field.Path) field.ErrorList {
	refuse := func(why string) field.ErrorList {
		return field.ErrorList{field.Invalid(path, string(entry.Install), why)}
	}
	switch {
	case entry.Install == "":
		return nil
	case !slices.Contains(knownInstalls, entry.Install):
		return field.ErrorList{field.NotSupported(path, entry.Install, knownInstalls)}
	case HasAlternatives(entry):
		return refuse("install excludes anyOf: none of the alternatives is preferred")
	case !Installs(entry):
		return nil
	case entry.Type != "" && entry.Type != addonv1alpha1.DependencyTypeRequired && entry.Type != addonv1alpha1.DependencyTypeOptional:
		return refuse("install Auto is for a Required or an Optional edge")
	case entry.API != nil && ServedBy(entry) != addonv1alpha1.APIServerManagedCluster:
		return refuse("install Auto is for an API that the managed cluster serves")
	}
	return nil
}

var knownRemovals = []addonv1alpha1.DependencyRemoval{
	addonv1alpha1.DependencyRemovalKeep, addonv1alpha1.DependencyRemovalWithLastDependent,
}

// validateRemoval checks whether Interlock can remove what an edge needs, with the messages of the schema's rules.
func validateRemoval(entry *addonv1alpha1.AddonDependency, path *field.Path) field.ErrorList {
	switch {
	case entry.Removal != "" && !slices.Contains(knownRemovals, entry.Removal):
		return field.ErrorList{field.NotSupported(path, entry.Removal, knownRemovals)}
	case Removes(entry) && !Installs(entry):
		return field.ErrorList{field.Invalid(path, string(entry.Removal),
			"removal WithLastDependent needs install Auto: only what Interlock has installed is removed")}
	}
	return nil
}

// Removes reports whether what was installed for an edge is to be removed with the last edge on it.
func Removes(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.Removal == addonv1alpha1.DependencyRemovalWithLastDependent
}

// Installs reports whether the add-on that an edge needs is to be installed where it is not.
func Installs(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.Install == addonv1alpha1.DependencyInstallAuto
}
