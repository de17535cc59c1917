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

// explain returns the Conflict of a problem without a solution. It first finds the smallest set of wishes that exclude each other, and
// then, of the declarations by which they do, the smallest set.
func (p *problem) explain(involved map[source]bool) error {
	core, bounded := p.smallestWishes()
	if result := p.solve(core); result.outcome() == conflicting {
		involved = result.involved
	}
	sources, declarationsBounded := p.smallestSources(core, involved)
	conflict := &Conflict{Bounded: bounded || declarationsBounded}
	conflict.sentence = p.sentence(core, sources)
	if conflict.Bounded {
		conflict.sentence += ". Fewer of these may be enough for the conflict: the search for fewer has reached its limit"
	}
	for i := range core {
		conflict.Wishes = append(conflict.Wishes, core[i].Wish)
	}
	return conflict
}

// smallestWishes returns the smallest set of wishes that exclude each other. bounded is true if there may be a smaller one.
func (p *problem) smallestWishes() (core []wish, bounded bool) {
	within := func(set bitset) []wish {
		var wishes []wish
		for _, i := range set.numbers() {
			wishes = append(wishes, p.wishes[i])
		}
		return wishes
	}
	r := reduction{problem: p, try: func(set bitset) trial {
		result := p.solve(within(set))
		if result.selection == nil {
			return trial{result.outcome(), result.involvedWishes}
		}
		var satisfied bitset
		for i := range p.wishes {
			if p.wishes[i].isSatisfied(result.selection) {
				satisfied.add(i)
			}
		}
		return trial{satisfiable, satisfied}
	}}
	var all bitset
	for i := range p.wishes {
		all.add(i)
	}
	return within(r.smallest(all)), r.bounded
}

// isSatisfied reports whether chosen releases satisfy the wish.
func (w *wish) isSatisfied(selection map[int]int) bool {
	chosen, ok := selection[w.addOn]
	return !ok && w.OnlyIfNeeded || ok && w.releases.contains(chosen)
}

// smallestSources returns the smallest set of the involved declarations by which the wishes exclude each other. bounded is true if there
// may be a smaller one.
func (p *problem) smallestSources(core []wish, involved map[source]bool) (sources []source, bounded bool) {
	all := slices.SortedFunc(maps.Keys(involved), p.compareSources)
	defer func() { p.activeSources = nil }()
	r := reduction{problem: p, try: func(set bitset) trial {
		p.activeSources = map[source]bool{}
		for _, i := range set.numbers() {
			p.activeSources[all[i]] = true
		}
		result := p.solve(core)
		var used bitset
		for i, declaring := range all {
			if result.involved[declaring] {
				used.add(i)
			}
		}
		if result.selection != nil {
			used = set
		}
		return trial{result.outcome(), used}
	}}
	var universe bitset
	for i := range all {
		universe.add(i)
	}
	for _, i := range r.smallest(universe).numbers() {
		sources = append(sources, all[i])
	}
	return sources, r.bounded
}

// isActive reports whether searches use a declaration.
func (p *problem) isActive(declaring source) bool {
	return p.activeSources == nil || p.activeSources[declaring]
}

func (p *problem) compareSources(a, b source) int {
	return cmp.Or(p.compareNames(a.addOn, b.addOn), cmp.Compare(a.name, b.name))
}

// sentence returns the message for wishes that exclude each other because of declarations.
func (p *problem) sentence(core []wish, sources []source) string {
	var facts []string
	addOns := map[string]bool{}
	for i := range core {
		facts = append(facts, describe(text.Name(core[i].AddOn), core[i].Version)+" is wanted")
		addOns[core[i].AddOn] = true
	}
	for _, declaring := range sources {
		facts = append(facts, p.facts(core, declaring, addOns)...)
	}
	if cycle := p.cycleIn(core, sources); cycle != "" {
		facts = append(facts[:min(len(facts), maxFacts-1)], "that is a "+cycle)
	}
	if excess := len(facts) - maxFacts; excess > 0 {
		facts = append(facts[:maxFacts], fmt.Sprintf("and %d more", excess))
	}
	var available []string
	for _, name := range sortedNames(addOns)[:min(len(addOns), maxFacts)] {
		available = append(available, p.available(name))
	}
	summary := "these wishes exclude each other"
	if len(core) == 1 {
		summary = "this wish cannot be satisfied"
	}
	if p.kind.Name != "" {
		summary = fmt.Sprintf("on clusters of kind %s, %s", text.Name(p.kind.Name), summary)
	}
	return summary + ": " + strings.Join(facts, "; ") + ". The index has " + strings.Join(available, "; ")
}

// facts describes a declaration, with the versions that have it. It adds the names of the add-ons that the declaration is about.
func (p *problem) facts(core []wish, declaring source, addOns map[string]bool) []string {
	versionsByPhrase, phrases := map[string][]string{}, []string{}
	add := func(r *release, phrase string) {
		if versionsByPhrase[phrase] == nil {
			phrases = append(phrases, phrase)
		}
		versionsByPhrase[phrase] = append(versionsByPhrase[phrase], r.Version)
	}
	addOn := p.addOns[declaring.addOn]
	for _, r := range p.wanted(core, declaring.addOn) {
		for _, refused := range r.refusals {
			if refused.source == declaring {
				add(r, strings.TrimPrefix(refused.reason, "it "))
			}
		}
		for n := range r.constraints {
			c := &r.constraints[n]
			if c.source != declaring {
				continue
			}
			add(r, phrase(c.edge))
			for t := range c.targets {
				if dependency := c.targets[t].addOn; dependency != unset && dependency != declaring.addOn {
					addOns[p.addOns[dependency].name] = true
				}
			}
		}
	}
	facts := make([]string, 0, len(phrases))
	for _, phrase := range phrases {
		facts = append(facts, fmt.Sprintf("%s %s %s", text.Name(addOn.name), listVersions(versionsByPhrase[phrase]), phrase))
	}
	return facts
}

// available lists the versions of an add-on.
func (p *problem) available(name string) string {
	addOn := p.addOns[p.ids[name]]
	if len(addOn.releases) == 0 {
		return "no " + text.Name(name)
	}
	var versions []string
	for i := range addOn.releases {
		version := addOn.releases[i].Version
		if !addOn.selectable.contains(i) {
			version += " (a prerelease: a wish has to ask for it, with prereleases: {})"
		}
		versions = append(versions, version)
	}
	return text.Name(name) + " " + listVersions(versions)
}

// maxFacts is the number of wishes and declarations in a message.
const maxFacts = 20

// maxListed is the number of versions in a list.
const maxListed = 5

func listVersions(versions []string) string {
	excerpts := make([]string, 0, maxListed)
	for _, version := range versions[:min(len(versions), maxListed)] {
		excerpts = append(excerpts, text.Excerpt(version))
	}
	list := strings.Join(excerpts, ", ")
	if excess := len(versions) - len(excerpts); excess > 0 {
		list += fmt.Sprintf(" and %d more", excess)
	}
	return list
}

// describe appends a range of versions to a subject, unless the range is empty.
func describe(subject, versions string) string {
	if versions == "" {
		return subject
	}
	return fmt.Sprintf("%s in version '%s'", subject, text.Excerpt(versions))
}

// phrase describes an edge: a verb and its object.
func phrase(edge *declaration.Edge) string {
	target := describe(evaluation.Finding{Dependency: &edge.Dependency}.Target(), edge.Dependency.Version)
	switch edge.Dependency.Type {
	case addonv1alpha1.DependencyTypeConflicts:
		return "conflicts with " + target
	case addonv1alpha1.DependencyTypeRequired:
		return "requires " + target
	default:
		return "works only beside " + target
	}
}
