package declaration

import (
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

// Overridden returns the declaration with new overrides of its edges and requirements. overrides returns the
// overrides of an edge, or requirement, by its name.
func (d Declaration) Overridden(overrides func(name string) []*policy.Override) Declaration {
	if edges, changed := overriddenEdges(d.Edges, overrides); changed {
		d.Edges = edges
	}
	differs := func(r Requirement) bool { return len(r.Overrides)+len(overrides(r.Name)) > 0 }
	if slices.ContainsFunc(d.Platform, differs) {
		d.Platform = slices.Clone(d.Platform)
		for i := range d.Platform {
			d.Platform[i].Overrides = effectiveOnRequirements(overrides(d.Platform[i].Name))
		}
	}
	return d
}

// overriddenEdges returns the edges with new overrides. changed is false if no edge has overrides, old or new.
func overriddenEdges(edges []Edge, overrides func(name string) []*policy.Override) (overridden []Edge, changed bool) {
	if !slices.ContainsFunc(edges, func(e Edge) bool { return len(e.Overrides)+len(overrides(e.Dependency.Name)) > 0 }) {
		return edges, false
	}
	overridden = slices.Clone(edges)
	for i := range overridden {
		edge := &overridden[i]
		edge.Overrides, edge.ranges = edge.effective(overrides(edge.Dependency.Name)), nil
		for _, override := range edge.Overrides {
			if override.Version == "" {
				continue
			}
			// An invalid range makes its override invalid.
			if accepted, err := versions.ParseRange(override.Version, edge.Dependency.Prereleases); err == nil {
				if edge.ranges == nil {
					edge.ranges = map[string]*versions.Range{}
				}
				edge.ranges[override.Version] = accepted
			}
		}
	}
	return overridden, true
}

// Under returns the edge with the effect of policies. It is the same edge if neither its type nor its versions change.
func (e *Edge) Under(effect *policy.Effect) *Edge {
	if Conflicts(&e.Dependency) {
		return e
	}
	changed := *e
	if effect.Type != "" {
		changed.Dependency.Type, changed.Alternatives = effect.Type, withType(e.Alternatives, effect.Type)
	}
	if len(effect.Versions) > 0 && e.AddOn != "" {
		changed.Dependency.Version, changed.Versions = strings.Join(effect.Versions, " and "), nil
		for _, version := range effect.Versions {
			if accepted := e.ranges[version]; changed.Versions == nil {
				changed.Versions = accepted
			} else if accepted != nil {
				changed.Versions = changed.Versions.And(accepted)
			}
		}
	}
	if changed.Dependency.Type == e.Dependency.Type && changed.Dependency.Version == e.Dependency.Version {
		return e
	}
	return &changed
}

// MayWait reports whether the dependent cannot work without the edge's add-on, by its declaration or by a policy.
func (e *Edge) MayWait() bool {
	return e.Waits() || e.AddOn != "" && !Conflicts(&e.Dependency) && slices.ContainsFunc(e.Overrides, func(o *policy.Override) bool {
		return o.Type == addonv1alpha1.DependencyTypeRequired
	})
}

// MayCompareVersion reports whether the edge depends on the version of its add-on, by its declaration or by a policy.
func (e *Edge) MayCompareVersion() bool {
	return ComparesVersion(&e.Dependency) || e.AddOn != "" && !Conflicts(&e.Dependency) && slices.ContainsFunc(e.Overrides, func(o *policy.Override) bool {
		return o.Version != "" && o.Version != versions.Any
	})
}

// MayExplain reports whether the edge can be unsatisfied because its add-on is not installed, by its declaration or by
// a policy.
func (e *Edge) MayExplain() bool {
	return !Conflicts(&e.Dependency) && (e.Dependency.Type != addonv1alpha1.DependencyTypeIfInstalled ||
		slices.ContainsFunc(e.Overrides, func(o *policy.Override) bool {
			return o.Type != "" && o.Type != addonv1alpha1.DependencyTypeIfInstalled
		}))
}

// Blocking returns the edge as a Required edge if it is Optional, and otherwise the same edge.
func (e *Edge) Blocking() *Edge {
	if e.Dependency.Type != addonv1alpha1.DependencyTypeOptional {
		return e
	}
	blocking := *e
	blocking.Dependency.Type = addonv1alpha1.DependencyTypeRequired
	blocking.Alternatives = withType(e.Alternatives, addonv1alpha1.DependencyTypeRequired)
	return &blocking
}

// withoutEffect returns the reason for which an override, or its version, has no effect on the edge, or an empty
// string. ignored is true if the whole override has no effect.
func (e *Edge) withoutEffect(override *policy.Override) (reason string, ignored bool) {
	ifInstalled := override.Type == addonv1alpha1.DependencyTypeIfInstalled
	switch {
	case override.Waived, override.Invalid != "":
		return "", false
	case Conflicts(&e.Dependency):
		return "a dependency of type Conflicts can only be waived", true
	case len(e.Alternatives) > 0 && ifInstalled:
		return "a dependency with anyOf has no type IfInstalled", true
	case len(e.Alternatives) > 0 && override.Version != "":
		return "version has no effect: the dependency has alternatives, each with its own range", override.Type == ""
	case e.AddOn == "" && ifInstalled:
		return "an API has no type IfInstalled", true
	case e.AddOn == "" && override.Version != "":
		return "version has no effect: the dependency is on an API", override.Type == ""
	case ifInstalled && override.Version == "" && e.Dependency.Version == "":
		return "type IfInstalled needs version: without a range it requires nothing", true
	default:
		return "", false
	}
}

// effective returns the overrides that have an effect on the edge.
func (e *Edge) effective(overrides []*policy.Override) []*policy.Override {
	return without(overrides, func(o *policy.Override) bool {
		_, ignored := e.withoutEffect(o)
		return ignored
	})
}

// effectiveOnRequirements returns the overrides that have an effect on a requirement.
func effectiveOnRequirements(overrides []*policy.Override) []*policy.Override {
	return without(overrides, func(o *policy.Override) bool { return !o.Waived && o.Invalid == "" })
}

// without returns the overrides that are not ignored. It returns the same slice if none is ignored.
func without(overrides []*policy.Override, ignored func(*policy.Override) bool) []*policy.Override {
	if !slices.ContainsFunc(overrides, ignored) {
		return overrides
	}
	return slices.DeleteFunc(slices.Clone(overrides), ignored)
}

// HasOverrides reports whether policies override any edge or requirement.
func (d Declaration) HasOverrides() bool {
	return slices.ContainsFunc(d.Edges, func(e Edge) bool { return len(e.Overrides) > 0 }) ||
		slices.ContainsFunc(d.Platform, func(r Requirement) bool { return len(r.Overrides) > 0 })
}

// SameOverrides reports whether two declarations with the same edges and requirements have the same overrides.
func SameOverrides(a, b Declaration) bool {
	equal := func(a, b []*policy.Override) bool { return slices.EqualFunc(a, b, (*policy.Override).Equal) }
	return slices.EqualFunc(a.Edges, b.Edges, func(a, b Edge) bool { return equal(a.Overrides, b.Overrides) }) &&
		slices.EqualFunc(a.Platform, b.Platform, func(a, b Requirement) bool { return equal(a.Overrides, b.Overrides) })
}

// EachOverridden calls a function with each edge and requirement that policies override.
func (d Declaration) EachOverridden(call func(name string, overrides []*policy.Override)) {
	for i := range d.Edges {
		if edge := &d.Edges[i]; len(edge.Overrides) > 0 {
			call(edge.Dependency.Name, edge.Overrides)
		}
	}
	for i := range d.Platform {
		if required := &d.Platform[i]; len(required.Overrides) > 0 {
			call(required.Name, required.Overrides)
		}
	}
}

// WithoutEffect returns the reason for which an override has no effect on the edge or requirement of a name, or an empty
// string. declares is false without an edge or requirement of that name.
func (d Declaration) WithoutEffect(name string, override *policy.Override) (reason string, declares bool) {
	for i := range d.Edges {
		if edge := &d.Edges[i]; edge.Dependency.Name == name {
			reason, _ = edge.withoutEffect(override)
			return reason, true
		}
	}
	if !slices.ContainsFunc(d.Platform, func(r Requirement) bool { return r.Name == name }) {
		return "", false
	}
	if !override.Waived && override.Invalid == "" {
		reason = "a requirement can only be waived"
	}
	return reason, true
}
