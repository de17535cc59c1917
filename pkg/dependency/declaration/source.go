package declaration

import (
	"reflect"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Source is what a registration declares, as it was written.
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

// Equal compares what was written, not what it amounts to: a second entry of
// the same name is a change, and so is an empty list, which hides the annotation.
// Only a type that was left to its default is the same as the default.
func (s Source) Equal(other Source) bool {
	if reflect.DeepEqual(s, other) { // at once for objects of a cache, whose lists are the same
		return true
	}
	s.dependencies, other.dependencies = withTypes(s.dependencies), withTypes(other.dependencies)
	return reflect.DeepEqual(s, other)
}

// SameDeclared reports whether two states of a registration declare the same. A
// record, and fields that are restored from it, are no change.
func SameDeclared(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	return SourceOf(a).Equal(SourceOf(b)) || countedSource(a).Equal(countedSource(b))
}

// countedSource is what counts, and an annotation that was written by hand.
func countedSource(addOn *addonv1alpha1.ClusterManagementAddOn) Source {
	counted, byHand, _ := counting(addOn) // an annotation that cannot be read is compared as text
	source := Source{annotated: byHand, dependencies: withTypes(counted.dependencies), requirements: counted.requirements, provides: counted.provides}
	if byHand {
		source.annotation = addOn.Annotations[addonv1alpha1.DependenciesAnnotation]
	}
	return source
}

// withTypes fills in the default, which an object stored before it has not.
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
