package versions

import (
	"fmt"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Placeholder stands for a version that the reader of a command has to fill in.
const Placeholder = "VERSION"

// AnnotateCommand returns the command that sets the version of an add-on on an object of a cluster-scoped resource.
func AnnotateCommand(resource, name, version string) string {
	return fmt.Sprintf("kubectl annotate %s %s %s=%s", resource, name, addonv1alpha1.AddOnVersionAnnotation, version)
}

// AnnotateOnCluster returns the command that sets the version of an add-on on one managed cluster.
func AnnotateOnCluster(cluster, addOn, version string) string {
	return fmt.Sprintf("kubectl annotate managedclusteraddon %s -n %s %s=%s", addOn, cluster, addonv1alpha1.AddOnVersionAnnotation, version)
}
