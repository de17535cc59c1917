package declaration

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Edge is a compiled entry of a declaration: a dependency on an add-on or on an API.
type Edge struct {
	// Dependency is the declared entry, with its default type.
	Dependency addonv1alpha1.AddonDependency
	// AddOn is the add-on of the dependency. It is empty for an API and for alternatives.
	AddOn string
	// Alternatives are edges in the declared order. Any of them satisfies this edge.
	Alternatives []Edge
	// Versions is the range of accepted versions. A nil range accepts all.
	Versions *versions.Range
	// Tolerate is the time for which the edge stays satisfied after its add-on became unavailable.
	Tolerate time.Duration
	// Config is a condition on the settings of the add-on, or nil.
	Config *expression.Expression
	// Settings are the variables of the add-on if Interlock installs it.
	Settings []Setting
	// When is the condition of the edge. If it is nil, the edge always applies.
	When *When
	// Index is the index in the declared list, which may have duplicates.
	Index int
	// Overrides are the overrides of the edge by policies, see Overridden.
	Overrides []*policy.Override
	// ranges are the compiled ranges of Overrides, by their text.
	ranges map[string]*versions.Range
}

// compileEdge compiles an entry.
func compileEdge(entry addonv1alpha1.AddonDependency, path *field.Path) (Edge, field.ErrorList) {
	compiled := Edge{Dependency: entry, AddOn: Target(&entry)}
	accepted, errs := compileRange(&entry, path)
	alternatives, alternativeErrs := compileAlternatives(&entry, path.Child("anyOf"))
	compiled.Versions, compiled.Alternatives = accepted, alternatives
	config, configErrs := compileConfig(&entry, path.Child("config"))
	settings, settingErrs := compileSettings(&entry, path.Child("settings"))
	when, whenErrs := compileWhen(entry.When, path.Child("when"))
	compiled.Config, compiled.Settings, compiled.When = config, settings, when
	// The schema has checked it. The field is not a metav1.Duration, because that writes 2m0s for 2m, and the record of
	// a declaration would differ from the declaration.
	compiled.Tolerate, _ = time.ParseDuration(entry.Tolerate)
	return compiled, slices.Concat(errs, alternativeErrs, configErrs, settingErrs, whenErrs)
}

// compileRange compiles the range of versions of an entry. It returns nil if the entry has no range.
func compileRange(entry *addonv1alpha1.AddonDependency, path *field.Path) (*versions.Range, field.ErrorList) {
	if entry.Version == "" {
		return nil, nil
	}
	accepted, err := versions.ParseRange(entry.Version, entry.Prereleases)
	if err != nil {
		return nil, field.ErrorList{invalidRange(path.Child("version"), entry.Version, err)}
	}
	return accepted, nil
}

func invalidRange(path *field.Path, value string, err error) *field.Error {
	return field.Invalid(path, text.Excerpt(value), err.Error())
}

// MayWaitForAny reports whether the dependent cannot work without one of the edge's alternatives, by its declaration
// or by a policy.
func (e *Edge) MayWaitForAny() bool {
	return len(e.Alternatives) > 0 && (e.Dependency.Type == addonv1alpha1.DependencyTypeRequired ||
		slices.ContainsFunc(e.Overrides, func(o *policy.Override) bool { return o.Type == addonv1alpha1.DependencyTypeRequired }))
}

// Waits reports whether the dependent cannot work without the edge's add-on, on clusters on which the edge applies.
// This is false for an alternative, because another alternative may satisfy the edge.
func (e *Edge) Waits() bool {
	return e.AddOn != "" && e.Dependency.Type == addonv1alpha1.DependencyTypeRequired
}

// WantsVersion reports whether only some versions of the add-on satisfy the edge.
func (e *Edge) WantsVersion() bool {
	return e.AddOn != "" && ComparesVersion(&e.Dependency) && !Conflicts(&e.Dependency)
}

// Conflicts reports whether the edge is only satisfied if its add-on is not installed.
func Conflicts(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.Type == addonv1alpha1.DependencyTypeConflicts
}

// ServedBy returns the API server that must serve the API of an edge. It is empty for an edge on an add-on.
func ServedBy(dependency *addonv1alpha1.AddonDependency) addonv1alpha1.APIServer {
	if dependency.API == nil {
		return ""
	}
	return cmp.Or(dependency.API.ServedBy, addonv1alpha1.APIServerManagedCluster)
}

// Target returns the add-on of an edge. It is empty for an API and for alternatives.
func Target(dependency *addonv1alpha1.AddonDependency) string {
	switch {
	case dependency.API != nil, HasAlternatives(dependency):
		return ""
	case dependency.AddOn != "":
		return dependency.AddOn
	default:
		return dependency.Name
	}
}

// ComparesVersion reports whether the edge depends on the version of its add-on.
func ComparesVersion(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.API == nil && dependency.Version != "" && dependency.Version != versions.Any
}
