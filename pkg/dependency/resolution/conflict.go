package resolution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// explain finds the wishes that exclude each other, and then the declarations because of which they do: without any
// of them, there is a solution.
func (p *problem) explain(involved map[source]bool) error {
	core := p.wishes
	if alone := slices.IndexFunc(p.wishes, func(one wish) bool { return p.fails([]wish{one}) }); alone >= 0 {
		core = p.wishes[alone : alone+1]
	}
	for i := 0; i < len(core) && len(core) > 1; {
		if others := slices.Delete(slices.Clone(core), i, i+1); p.fails(others) {
			core = others
			continue
		}
		i++
	}
	found := p.solve(core)
	if found.chosen == nil && !found.exhausted {
		involved = found.involved
	}
	declared := p.reduce(core, involved)
	conflict := &Conflict{sentence: p.sentence(core, declared)}
	for i := range core {
		conflict.Wishes = append(conflict.Wishes, core[i].Wish)
	}
	return conflict
}

// fails reports whether the wishes are known to exclude each other.
func (p *problem) fails(wishes []wish) bool {
	found := p.solve(wishes)
	return found.chosen == nil && !found.exhausted
}

// reduce leaves out the declarations without which the wishes exclude each other all the same.
func (p *problem) reduce(core []wish, involved map[source]bool) (kept []source) {
	p.counted = involved
	defer func() { p.counted = nil }()
	for _, one := range slices.SortedFunc(maps.Keys(involved), p.compareSources) {
		if !p.counted[one] {
			continue
		}
		others := maps.Clone(p.counted)
		delete(others, one)
		before := p.counted
		p.counted = others
		if found := p.solve(core); found.chosen == nil && !found.exhausted {
			p.counted = found.involved // what is not involved in it does not count
			continue
		}
		p.counted = before
		kept = append(kept, one)
	}
	return kept
}

// counts reports whether a declaration counts.
func (p *problem) counts(of source) bool { return p.counted == nil || p.counted[of] }

func (p *problem) compareSources(a, b source) int {
	return cmp.Or(p.compareNames(a.addOn, b.addOn), cmp.Compare(a.name, b.name))
}

// sentence reports a conflict.
func (p *problem) sentence(core []wish, declared []source) string {
	var facts []string
	named := map[string]bool{}
	for i := range core {
		facts = append(facts, describe(text.Name(core[i].AddOn), core[i].Version)+" is wanted")
		named[core[i].AddOn] = true
	}
	for _, one := range declared {
		facts = append(facts, p.declares(core, one, named)...)
	}
	if more := len(facts) - maxFacts; more > 0 {
		facts = append(facts[:maxFacts], fmt.Sprintf("and %d more", more))
	}
	var there []string
	for _, name := range sortedNames(named)[:min(len(named), maxFacts)] {
		there = append(there, p.available(name))
	}
	what := "these wishes exclude each other"
	if len(core) == 1 {
		what = "this wish cannot be satisfied"
	}
	if p.kind.Name != "" {
		what = fmt.Sprintf("on clusters of kind %s, %s", text.Name(p.kind.Name), what)
	}
	return what + ": " + strings.Join(facts, "; ") + ". The index has " + strings.Join(there, "; ")
}

// declares describes what releases of an add-on declare, and names the add-ons that this is about.
func (p *problem) declares(core []wish, of source, named map[string]bool) []string {
	by, order := map[string][]string{}, []string{}
	add := func(one *release, what string) {
		if by[what] == nil {
			order = append(order, what)
		}
		by[what] = append(by[what], one.Version)
	}
	for i := range p.addOns[of.addOn].releases {
		one := p.candidate(of.addOn, i)
		if !p.addOns[of.addOn].asked.has(i) || slices.ContainsFunc(core, func(w wish) bool { return w.addOn == of.addOn && !w.accepts.has(i) }) {
			continue
		}
		for _, refused := range one.refusals {
			if refused.source == of {
				add(one, strings.TrimPrefix(refused.because, "it "))
			}
		}
		for c := range one.constraints {
			if constraint := &one.constraints[c]; constraint.source == of {
				add(one, phrase(constraint.edge))
				for t := range constraint.targets {
					if on := constraint.targets[t].addOn; on != none && on != of.addOn {
						named[p.addOns[on].name] = true
					}
				}
			}
		}
	}
	facts := make([]string, 0, len(order))
	for _, what := range order {
		facts = append(facts, fmt.Sprintf("%s %s %s", text.Name(p.addOns[of.addOn].name), listed(by[what]), what))
	}
	return facts
}

// available lists the versions of an add-on.
func (p *problem) available(name string) string {
	of := p.addOns[p.ids[name]]
	if len(of.releases) == 0 {
		return "no " + text.Name(name)
	}
	var all []string
	for i := range of.releases {
		version := of.releases[i].Version
		if !of.asked.has(i) {
			version += " (a prerelease that no wish asks for)"
		}
		all = append(all, version)
	}
	return text.Name(name) + " " + listed(all)
}

// maxFacts is how many wishes and declarations a message has.
const maxFacts = 20

// maxListed is how many versions a message has.
const maxListed = 5

func listed(versions []string) string {
	shown := make([]string, 0, maxListed)
	for _, one := range versions[:min(len(versions), maxListed)] {
		shown = append(shown, text.Excerpt(one))
	}
	joined := strings.Join(shown, ", ")
	if more := len(versions) - len(shown); more > 0 {
		joined += fmt.Sprintf(" and %d more", more)
	}
	return joined
}

// describe names something, and its range of versions, if it has one.
func describe(what, versions string) string {
	if versions == "" {
		return what
	}
	return fmt.Sprintf("%s in version '%s'", what, text.Excerpt(versions))
}

// phrase is what a release with the edge does.
func phrase(edge *declaration.Edge) string {
	on := describe(evaluation.Finding{Dependency: &edge.Dependency}.Target(), edge.Dependency.Version)
	switch edge.Dependency.Type {
	case addonv1alpha1.DependencyTypeConflicts:
		return "conflicts with " + on
	case addonv1alpha1.DependencyTypeRequired:
		return "requires " + on
	default:
		return "works only beside " + on
	}
}
