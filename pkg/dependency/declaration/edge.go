package declaration

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Edge is one entry of a declaration, compiled: on an add-on or on an API.
type Edge struct {
	// Dependency is the entry as declared, with its type defaulted.
	Dependency addonv1alpha1.AddonDependency
	// AddOn is the add-on that the edge is on; empty for an API, and for alternatives.
	AddOn string
	// Alternatives: any of them satisfies the edge. Each is an edge of its own, in the order declared; nil: it has none.
	Alternatives []Edge
	// Versions are those that are accepted; nil: all.
	Versions *versions.Range
	// Tolerate is how long it is satisfied after its add-on became unavailable.
	Tolerate time.Duration
	// Config is what the settings of its add-on must be; nil: anything.
	Config *expression.Expression
	// Settings are the variables that its add-on gets where Interlock installs it.
	Settings []Setting
	// When is the condition; nil: the edge always applies.
	When *When
	// Index is its place in the list as declared, which may have duplicates.
	Index int
	// Overrides are what policies say of it, see Overridden.
	Overrides []*policy.Override
	// ranges are the compiled ranges of Overrides, by their text.
	ranges map[string]*versions.Range
}

// compileEdge reads the parts of an entry that the proposal does not have.
func compileEdge(entry addonv1alpha1.AddonDependency, path *field.Path) (Edge, field.ErrorList) {
	compiled := Edge{Dependency: entry, AddOn: Target(&entry)}
	accepted, errs := compileRange(&entry, path)
	alternatives, alternativeErrs := compileAlternatives(&entry, path.Child("anyOf"))
	compiled.Versions, compiled.Alternatives = accepted, alternatives
	config, configErrs := compileConfig(&entry, path.Child("config"))
	settings, settingErrs := compileSettings(&entry, path.Child("settings"))
	when, whenErrs := compileWhen(entry.When, path.Child("when"))
	compiled.Config, compiled.Settings, compiled.When = config, settings, when
	// The schema has checked it. The field is text, and no metav1.Duration: that is written as 2m0s where its author
	// wrote 2m, so the record of a declaration would differ from it.
	compiled.Tolerate, _ = time.ParseDuration(entry.Tolerate)
	return compiled, slices.Concat(errs, alternativeErrs, configErrs, settingErrs, whenErrs)
}

// compileRange reads which versions satisfy an edge; nil: all.
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

// MayWaitForAny reports whether the dependent waits on the edge until one of its alternatives is there, by itself or
// where a policy says so.
func (e *Edge) MayWaitForAny() bool {
	return len(e.Alternatives) > 0 && (e.Dependency.Type == addonv1alpha1.DependencyTypeRequired ||
		slices.ContainsFunc(e.Overrides, func(o *policy.Override) bool { return o.Type == addonv1alpha1.DependencyTypeRequired }))
}

// Waits reports whether the dependent waits on the edge until an add-on is
// available, where the edge applies. It does not wait for any alternative: another one may do.
func (e *Edge) Waits() bool {
	return e.AddOn != "" && e.Dependency.Type == addonv1alpha1.DependencyTypeRequired
}

// WantsVersion reports whether only some versions of an add-on satisfy the edge.
func (e *Edge) WantsVersion() bool {
	return e.AddOn != "" && ComparesVersion(&e.Dependency) && !Conflicts(&e.Dependency)
}

// Conflicts reports whether the edge is satisfied where its add-on is not installed.
func Conflicts(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.Type == addonv1alpha1.DependencyTypeConflicts
}

// ServedBy is whose API server must serve the API of an edge; empty for an edge on an add-on.
func ServedBy(dependency *addonv1alpha1.AddonDependency) addonv1alpha1.APIServer {
	if dependency.API == nil {
		return ""
	}
	return cmp.Or(dependency.API.ServedBy, addonv1alpha1.APIServerManagedCluster)
}

// Target is the add-on that an edge is on; empty for an edge on an API, and for one with alternatives.
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

// ComparesVersion reports whether it matters which version of the add-on runs.
func ComparesVersion(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.API == nil && dependency.Version != "" && dependency.Version != versions.Any
}
