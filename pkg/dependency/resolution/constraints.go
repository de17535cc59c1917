package resolution

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// constraint is what an edge of a chosen release asks of the other choices. As a need, one of its
// targets has to be chosen. Else each target limits its add-on, where that is chosen.
type constraint struct {
	source
	edge    *declaration.Edge
	need    bool
	targets []target
	// where: the need counts only where one of these add-ons is chosen; nil: everywhere. An Optional edge
	// with alternatives is satisfied without any of them.
	where []int
	// circular: a target that waits for the dependent does not satisfy the need.
	circular bool
}

// target is one way to satisfy a need.
type target struct {
	addOn   int
	accepts bitset
	// assumed: no release provides the API, so it is assumed to be served.
	assumed bool
	api     *addonv1alpha1.DependencyAPI
}

// single reports whether the need is on one add-on from the beginning. One left of several alternatives may be circular.
func (c *constraint) single() bool {
	return len(c.targets) == 1 && c.where == nil && !c.circular && !c.targets[0].assumed
}

// constraintsOf compiles an edge that applies.
func (p *problem) constraintsOf(id int, edge *declaration.Edge) []constraint {
	made := constraint{source: source{id, edge.Dependency.Name}, edge: edge}
	required := edge.Dependency.Type == addonv1alpha1.DependencyTypeRequired
	switch {
	case len(edge.Alternatives) > 0:
		made.need, made.circular = true, required
		for i := range edge.Alternatives {
			targets, served := p.targetsOf(&edge.Alternatives[i])
			if served {
				return nil
			}
			made.targets = append(made.targets, targets...)
		}
		if !required {
			return p.whereChosen(made)
		}
	case edge.Dependency.API != nil:
		targets, served := p.targetsOf(edge)
		if served || !required {
			return nil
		}
		made.need, made.targets = true, targets
	default:
		made.need = required
		made.targets = []target{{addOn: p.id(edge.AddOn), accepts: p.accepts(edge)}}
	}
	return []constraint{made}
}

// whereChosen limits the need of an Optional edge with alternatives to where one of them is chosen.
func (p *problem) whereChosen(made constraint) []constraint {
	for i := range made.edge.Alternatives {
		if name := made.edge.Alternatives[i].AddOn; name != "" {
			made.where = append(made.where, p.id(name))
		}
	}
	if made.where == nil {
		return nil
	}
	return []constraint{made}
}

// targetsOf are the ways to satisfy an edge without alternatives. served: clusters of the kind do it by themselves.
func (p *problem) targetsOf(edge *declaration.Edge) (targets []target, served bool) {
	api := edge.Dependency.API
	if api == nil {
		return []target{{addOn: p.id(edge.AddOn), accepts: p.accepts(edge)}}, false
	}
	assumed := []target{{addOn: none, assumed: true, api: api}}
	if declaration.ServedBy(&edge.Dependency) != addonv1alpha1.APIServerManagedCluster {
		return assumed, false
	}
	for _, one := range p.kind.APIs {
		if provides(one, api.AddonAPI) {
			return nil, true
		}
	}
	// An API that a release provides in another version only is not assumed to be served in this one.
	if len(p.providers(addonv1alpha1.AddonAPI{Group: api.Group, Kind: api.Kind})) == 0 {
		return assumed, false
	}
	for id, releases := range p.providers(api.AddonAPI) {
		targets = append(targets, target{addOn: id, accepts: releases, api: api})
	}
	slices.SortFunc(targets, func(a, b target) int { return p.compareNames(a.addOn, b.addOn) })
	return targets, false
}

// none is the number of no add-on.
const none = -1

// accepts are the releases with which an edge on an add-on is satisfied where that is chosen.
func (p *problem) accepts(edge *declaration.Edge) bitset {
	id, conflicts := p.id(edge.AddOn), declaration.Conflicts(&edge.Dependency)
	key := edge.AddOn + "\x00" + edge.Dependency.Version
	if edge.Dependency.Prereleases != nil {
		key += "\x00"
		for _, identifier := range edge.Dependency.Prereleases.Identifiers {
			key += "\x00" + identifier
		}
	}
	matching, known := p.accepted[key]
	if !known {
		matching = p.matching(id, edge.Versions)
		p.accepted[key] = matching
	}
	if !conflicts {
		return matching
	}
	var others bitset
	for i := range p.addOns[id].releases {
		if !matching.has(i) {
			others.add(i)
		}
	}
	return others
}

// provides reports whether a declared API is the one that is needed, as catalog.Providers does.
func provides(declared, needed addonv1alpha1.AddonAPI) bool {
	return declared.Group == needed.Group && declared.Kind == needed.Kind &&
		(needed.Version == "" || declared.Version == "" || declared.Version == needed.Version)
}

// providers are the releases that declare that they provide an API, by add-on. A prerelease that no wish asks for
// provides nothing.
func (p *problem) providers(api addonv1alpha1.AddonAPI) map[int]bitset {
	if found, known := p.provided[api]; known {
		return found
	}
	found := map[int]bitset{}
	for id, of := range p.addOns {
		var releases bitset
		for i := range of.releases {
			declared := &p.evaluate(&of.releases[i]).declared
			if of.asked.has(i) && slices.ContainsFunc(declared.Provides, func(one addonv1alpha1.AddonAPI) bool { return provides(one, api) }) {
				releases.add(i)
			}
		}
		if !releases.empty() {
			found[id] = releases
		}
	}
	p.provided[api] = found
	return found
}

func sortedNames(of map[string]bool) []string { return slices.Sorted(maps.Keys(of)) }
