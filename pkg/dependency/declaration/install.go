package declaration

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Removes reports whether what was installed for an edge is to be removed with the last edge on it.
func Removes(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.Removal == addonv1alpha1.DependencyRemovalWithLastDependent
}

// Installs reports whether the add-on that an edge needs is to be installed where it is not.
func Installs(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.Install == addonv1alpha1.DependencyInstallAuto
}
