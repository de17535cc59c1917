package declaration

import (
	"reflect"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Source is the declaration of a registration as it was written.
type Source struct {
	annotation   string
	annotated    bool
	mark         string // of a record
	dependencies []addonv1alpha1.AddonDependency
	requirements *addonv1alpha1.AddonRequirements
	provides     []addonv1alpha1.AddonAPI
	ordering     addonv1alpha1.Ordering
}

// SourceOf returns the source of a declaration.
func SourceOf(addOn *addonv1alpha1.ClusterManagementAddOn) Source {
	annotation, annotated := addOn.Annotations[addonv1alpha1.DependenciesAnnotation]
	return Source{
		annotation: annotation, annotated: annotated, mark: addOn.Annotations[addonv1alpha1.RecordAnnotation],
		dependencies: addOn.Spec.Dependencies, requirements: addOn.Spec.Requirements, provides: addOn.Spec.Provides,
		ordering: addOn.Spec.Ordering,
	}
}

// Equal compares the text of declarations instead of their meaning: a second entry of
// the same name is a change, and so is an empty list, which hides the annotation.
// Only a missing type is equal to the default type.
func (s Source) Equal(other Source) bool {
	if reflect.DeepEqual(s, other) { // fast for objects of a cache, which share their lists
		return true
	}
	s.dependencies, other.dependencies = withTypes(s.dependencies), withTypes(other.dependencies)
	return reflect.DeepEqual(s, other)
}

// SameDeclared reports whether two states of a registration have the same declaration. A
// record, and fields that are restored from it, are not a change.
func SameDeclared(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	return SourceOf(a).Equal(SourceOf(b)) || countedSource(a).Equal(countedSource(b))
}

// countedSource returns the declaration that counts, with an annotation that was written by hand.
func countedSource(addOn *addonv1alpha1.ClusterManagementAddOn) Source {
	counted, byHand, _ := counting(addOn) // an invalid annotation is compared as text
	source := Source{annotated: byHand, dependencies: withTypes(counted.dependencies), requirements: counted.requirements, provides: counted.provides}
	if byHand {
		source.annotation = addOn.Annotations[addonv1alpha1.DependenciesAnnotation]
	}
	return source
}

// withTypes returns the dependencies with default types. Objects that were stored before the CRD had the default lack them.
func withTypes(listed []addonv1alpha1.AddonDependency) []addonv1alpha1.AddonDependency {
	if listed == nil {
		return nil
	}
	filled := make([]addonv1alpha1.AddonDependency, len(listed))
	for i, entry := range listed {
		if filled[i] = entry; entry.Type == "" {
			filled[i].Type = addonv1alpha1.DependencyTypeRequired
		}
	}
	return filled
}
