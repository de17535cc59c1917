package declaration

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// Limits of the schema: one alternative is no choice.
const (
	minAlternatives = 2
	maxAlternatives = 8
)

// HasAlternatives reports whether one of several add-ons and APIs satisfies the edge.
func HasAlternatives(dependency *addonv1alpha1.AddonDependency) bool {
	return len(dependency.AnyOf) > 0
}

// Alternative returns an alternative as an edge of its own, with the name, type and texts of the edge that it is of.
func Alternative(of *addonv1alpha1.AddonDependency, alternative *addonv1alpha1.DependencyAlternative) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{
		Name: of.Name, Type: of.Type, Message: of.Message, Docs: of.Docs,
		AddOn: alternative.AddOn, Version: alternative.Version, Prereleases: alternative.Prereleases, API: alternative.API,
	}
}

// Ends are the edges on one add-on or one API each: the alternatives, or the edge itself where it has none.
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

// IsOn reports whether the edge, or an alternative of it, is on the add-on.
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
	if len(entry.AnyOf) > maxAlternatives { // this is reported, and what would be compiled stays bounded
		return nil, nil
	}
	for i := range entry.AnyOf {
		dependency := Alternative(entry, &entry.AnyOf[i])
		accepted, rangeErrs := compileRange(&dependency, path.Index(i))
		errs = append(errs, rangeErrs...)
		alternatives = append(alternatives, Edge{Dependency: dependency, AddOn: dependency.AddOn, Versions: accepted})
	}
	return alternatives, errs
}

// withType returns the alternatives as those of an edge of another type.
func withType(alternatives []Edge, of addonv1alpha1.DependencyType) []Edge {
	changed := slices.Clone(alternatives)
	for i := range changed {
		changed[i].Dependency.Type = of
	}
	return changed
}

// validateAnyOf checks the alternatives of an edge by the rules of the schema, and what else it has.
func validateAnyOf(entry *addonv1alpha1.AddonDependency, path *field.Path) field.ErrorList {
	if entry.AnyOf == nil {
		return nil
	}
	errs := validateExcluded(entry, path)
	at := path.Child("anyOf")
	switch count := len(entry.AnyOf); {
	case count > maxAlternatives:
		return append(errs, field.TooMany(at, count, maxAlternatives))
	case count < minAlternatives:
		errs = append(errs, field.Invalid(at, count, fmt.Sprintf("must have %d to %d alternatives", minAlternatives, maxAlternatives)))
	}
	for i := range entry.AnyOf {
		alternative := &entry.AnyOf[i]
		errs = append(errs, validateAlternative(alternative, at.Index(i))...)
		if slices.ContainsFunc(entry.AnyOf[:i], func(before addonv1alpha1.DependencyAlternative) bool {
			return equality.Semantic.DeepEqual(before, *alternative)
		}) {
			errs = append(errs, field.Duplicate(at.Index(i), text.Excerpt(nameOf(alternative))))
		}
	}
	return errs
}

// nameOf is the add-on or the kind of an alternative.
func nameOf(alternative *addonv1alpha1.DependencyAlternative) string {
	if alternative.API != nil {
		return alternative.API.Kind
	}
	return alternative.AddOn
}

// validateExcluded checks what an edge with alternatives cannot have itself, with the messages of the schema's rules.
func validateExcluded(entry *addonv1alpha1.AddonDependency, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	refuse := func(excluded bool, child, value, why string) {
		if excluded {
			errs = append(errs, field.Invalid(path.Child(child), text.Excerpt(value), why))
		}
	}
	required, optional := addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeOptional
	refuse(entry.AddOn != "", "addOn", entry.AddOn, "addOn excludes anyOf: each alternative names its own add-on")
	refuse(entry.Version != "", "version", entry.Version, "version excludes anyOf: each alternative has its own range")
	refuse(entry.Prereleases != nil, "prereleases", "", "prereleases excludes anyOf: each alternative has its own")
	refuse(entry.Tolerate != "", "tolerate", entry.Tolerate, "tolerate excludes anyOf: alternatives tolerate nothing")
	refuse(entry.Type != "" && entry.Type != required && entry.Type != optional, "type", string(entry.Type),
		"type must be Required or Optional where anyOf is set")
	if entry.API != nil {
		refuse(true, "api", entry.API.Kind, "api excludes anyOf: each alternative names its own API")
	}
	if entry.Config != nil {
		refuse(true, "config", entry.Config.Expression, "config excludes anyOf: the settings of alternatives are not checked")
	}
	return errs
}

// validateAlternative checks one alternative.
func validateAlternative(alternative *addonv1alpha1.DependencyAlternative, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if (alternative.AddOn != "") == (alternative.API != nil) {
		errs = append(errs, field.Invalid(path, text.Excerpt(nameOf(alternative)), "an alternative is an add-on or an API: set one of addOn and api"))
	}
	if alternative.Version != "" && alternative.AddOn == "" {
		errs = append(errs, field.Invalid(path.Child("version"), text.Excerpt(alternative.Version),
			"version is a range for an add-on; the version of an API is api.version"))
	}
	if alternative.Prereleases != nil && alternative.Version == "" {
		errs = append(errs, field.Invalid(path.Child("prereleases"), "", "prereleases needs version"))
	}
	errs = append(errs, tooLong(path.Child("addOn"), alternative.AddOn, maxName)...)
	errs = append(errs, tooLong(path.Child("version"), alternative.Version, maxRange)...)
	errs = append(errs, validatePrereleases(alternative.Prereleases, path.Child("prereleases", "identifiers"))...)
	if alternative.API != nil {
		errs = append(errs, validateDependencyAPI(alternative.API, path.Child("api"))...)
	}
	return errs
}
