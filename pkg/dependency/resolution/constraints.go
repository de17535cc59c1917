package resolution

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// constraint is an edge of a chosen release, as a condition on the other choices. If it is a need, at least one of its targets
// has to be chosen. If it is not, each target only limits the releases of its add-on.
type constraint struct {
	source
	edge    *declaration.Edge
	need    bool
	targets []target
	// triggers has the add-ons that make the need apply. A nil one always applies. An Optional edge with alternatives has them:
	// it is satisfied if no alternative is chosen.
	triggers []int
	// rejectsCycles is true if a target that waits for the dependent does not satisfy the need.
	rejectsCycles bool
}

// target is an alternative for satisfying a need: any of the releases of an add-on.
type target struct {
	addOn    int
	releases bitset
	// assumed is true for an API that no release provides. It is assumed to be served.
	assumed bool
	api     *addonv1alpha1.DependencyAPI
}

// single reports whether the need always is a need for one add-on. A single alternative may be rejected because of a cycle.
func (c *constraint) single() bool {
	return len(c.targets) == 1 && c.triggers == nil && !c.rejectsCycles && !c.targets[0].assumed
}

// constraintsOf compiles an edge that applies on the kind of clusters.
func (p *problem) constraintsOf(id int, edge *declaration.Edge) []constraint {
	compiled := constraint{source: source{id, edge.Dependency.Name}, edge: edge}
	required := edge.Dependency.Type == addonv1alpha1.DependencyTypeRequired
	switch {
	case len(edge.Alternatives) > 0:
		compiled.need, compiled.rejectsCycles = true, required
		for i := range edge.Alternatives {
			targets, served := p.targetsOf(&edge.Alternatives[i])
			if served {
				return nil
			}
			compiled.targets = append(compiled.targets, targets...)
		}
		if !required {
			return p.withTriggers(compiled)
		}
	case edge.Dependency.API != nil:
		targets, served := p.targetsOf(edge)
		if served || !required {
			return nil
		}
		compiled.need, compiled.targets = true, targets
	default:
		compiled.need = required
		compiled.targets = []target{{addOn: p.id(edge.AddOn), releases: p.satisfying(edge)}}
	}
	return []constraint{compiled}
}

// withTriggers makes the need of an Optional edge with alternatives apply only if one of them is chosen.
func (p *problem) withTriggers(compiled constraint) []constraint {
	for i := range compiled.edge.Alternatives {
		if name := compiled.edge.Alternatives[i].AddOn; name != "" {
			compiled.triggers = append(compiled.triggers, p.id(name))
		}
	}
	if compiled.triggers == nil {
		return nil
	}
	return []constraint{compiled}
}

// targetsOf returns the targets of an edge without alternatives. It returns true instead if clusters of the kind serve its API
// without any add-on.
func (p *problem) targetsOf(edge *declaration.Edge) ([]target, bool) {
	api := edge.Dependency.API
	if api == nil {
		return []target{{addOn: p.id(edge.AddOn), releases: p.satisfying(edge)}}, false
	}
	assumed := []target{{addOn: unset, assumed: true, api: api}}
	if declaration.ServedBy(&edge.Dependency) != addonv1alpha1.APIServerManagedCluster {
		return assumed, false
	}
	for _, servedAPI := range p.kind.APIs {
		if provides(servedAPI, api.AddonAPI) {
			return nil, true
		}
	}
	// An API that a release provides in another version only is not assumed to be served in this one.
	if len(p.providers(addonv1alpha1.AddonAPI{Group: api.Group, Kind: api.Kind})) == 0 {
		return assumed, false
	}
	var targets []target
	for id, releases := range p.providers(api.AddonAPI) {
		targets = append(targets, target{addOn: id, releases: releases, api: api})
	}
	slices.SortFunc(targets, func(a, b target) int { return p.compareNames(a.addOn, b.addOn) })
	return targets, false
}

// unset is the number of an add-on or of a release that is not set.
const unset = -1

// satisfying returns the releases of an edge's add-on that satisfy the edge.
func (p *problem) satisfying(edge *declaration.Edge) bitset {
	id, conflicts := p.id(edge.AddOn), declaration.Conflicts(&edge.Dependency)
	key := edge.AddOn + "\x00" + edge.Dependency.Version
	if edge.Dependency.Prereleases != nil {
		key += "\x00"
		for _, identifier := range edge.Dependency.Prereleases.Identifiers {
			key += "\x00" + identifier
		}
	}
	matches, ok := p.acceptedReleases[key]
	if !ok {
		matches = p.matching(id, edge.Versions)
		p.acceptedReleases[key] = matches
	}
	if !conflicts {
		return matches
	}
	var complement bitset
	for i := range p.addOns[id].releases {
		if !matches.contains(i) {
			complement.add(i)
		}
	}
	return complement
}

// provides reports whether a declared API is the needed one. catalog.Providers applies the same rule.
func provides(declared, needed addonv1alpha1.AddonAPI) bool {
	return declared.Group == needed.Group && declared.Kind == needed.Kind &&
		(needed.Version == "" || declared.Version == "" || declared.Version == needed.Version)
}

// providers returns the releases that declare that they provide an API, by add-on. It leaves out prereleases that nothing asks
// for.
func (p *problem) providers(api addonv1alpha1.AddonAPI) map[int]bitset {
	if cached, ok := p.providersByAPI[api]; ok {
		return cached
	}
	providesAPI := func(declared addonv1alpha1.AddonAPI) bool { return provides(declared, api) }
	providers := map[int]bitset{}
	for id, addOn := range p.addOns {
		var releases bitset
		for i := range addOn.releases {
			declared := &p.evaluate(&addOn.releases[i]).declaration
			if addOn.selectable.contains(i) && slices.ContainsFunc(declared.Provides, providesAPI) {
				releases.add(i)
			}
		}
		if !releases.empty() {
			providers[id] = releases
		}
	}
	p.providersByAPI[api] = providers
	return providers
}

func sortedNames(names map[string]bool) []string { return slices.Sorted(maps.Keys(names)) }
