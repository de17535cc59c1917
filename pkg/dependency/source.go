package dependency

import (
	"reflect"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// source is what a registration says of dependencies, as it was written.
type source struct {
	annotation   string
	annotated    bool
	dependencies []addonv1alpha1.AddonDependency
	requirements *addonv1alpha1.AddonRequirements
	provides     []addonv1alpha1.AddonAPI
}

func sourceOf(addOn *addonv1alpha1.ClusterManagementAddOn) source {
	annotation, annotated := addOn.Annotations[addonv1alpha1.DependenciesAnnotation]
	return source{
		annotation: annotation, annotated: annotated,
		dependencies: addOn.Spec.Dependencies, requirements: addOn.Spec.Requirements, provides: addOn.Spec.Provides,
	}
}

// equal compares what was written, not what it amounts to: a second entry of
// the same name is a change, and so is an empty list, which hides the annotation.
func (s source) equal(other source) bool {
	return reflect.DeepEqual(s, other)
}

// SameDeclaration reports whether two states of a registration say the same of
// dependencies: what they declare, and the version of the add-on.
func SameDeclaration(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	return sourceOf(a).equal(sourceOf(b)) &&
		VersionIn(a.Annotations) == VersionIn(b.Annotations)
}
