package declaration

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Removes reports whether an edge lets Interlock remove the add-on that it has installed, once no edge needs it.
func Removes(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.Removal == addonv1alpha1.DependencyRemovalWithLastDependent
}

// Installs reports whether an edge lets Interlock install its add-on.
func Installs(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.Install == addonv1alpha1.DependencyInstallAuto
}
