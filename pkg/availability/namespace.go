package availability

import (
	"cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// defaultInstallNamespace is where OCM installs an add-on that names no namespace.
const defaultInstallNamespace = "open-cluster-management-agent-addon"

// InstallNamespace returns the namespace in which an add-on's agent runs and keeps its lease,
// which has the add-on's name.
func InstallNamespace(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	return cmp.Or(
		addOn.Status.Namespace,
		addOn.Spec.InstallNamespace, //nolint:staticcheck // deprecated, and still where OCM installs an add-on
		defaultInstallNamespace,
	)
}
