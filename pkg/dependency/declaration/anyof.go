package declaration

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// HasAlternatives reports whether any of several add-ons and APIs satisfies the edge.
func HasAlternatives(dependency *addonv1alpha1.AddonDependency) bool {
	return len(dependency.AnyOf) > 0
}

// Alternative returns an alternative as a separate edge, with the name, type and texts of its dependency.
func Alternative(
	dependency *addonv1alpha1.AddonDependency, alternative *addonv1alpha1.DependencyAlternative,
) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{
		Name: dependency.Name, Type: dependency.Type, Message: dependency.Message, Docs: dependency.Docs,
		AddOn: alternative.AddOn, Version: alternative.Version, Prereleases: alternative.Prereleases, API: alternative.API,
	}
}

// Ends returns the alternatives of the edge, or the edge itself without alternatives. Each is on one add-on or one API.
func (e *Edge) Ends() iter.Seq[*Edge] {
	return func(yield func(*Edge) bool) {
		if len(e.Alternatives) == 0 {
			yield(e)
			return
		}
		for i := range e.Alternatives {
			if !yield(&e.Alternatives[i]) {
				return
			}
		}
	}
}

// IsOn reports whether the edge, or one of its alternatives, is on the add-on.
func (e *Edge) IsOn(addOn string) bool {
	for end := range e.Ends() {
		if end.AddOn == addOn && addOn != "" {
			return true
		}
	}
	return false
}

// compileAlternatives compiles each alternative as an edge.
func compileAlternatives(entry *addonv1alpha1.AddonDependency, path *field.Path) (alternatives []Edge, errs field.ErrorList) {
	for i := range entry.AnyOf {
		dependency := Alternative(entry, &entry.AnyOf[i])
		accepted, rangeErrs := compileRange(&dependency, path.Index(i))
		errs = append(errs, rangeErrs...)
		alternatives = append(alternatives, Edge{Dependency: dependency, AddOn: dependency.AddOn, Versions: accepted})
	}
	return alternatives, errs
}

// withType returns the alternatives with another type.
func withType(alternatives []Edge, kind addonv1alpha1.DependencyType) []Edge {
	changed := slices.Clone(alternatives)
	for i := range changed {
		changed[i].Dependency.Type = kind
	}
	return changed
}
