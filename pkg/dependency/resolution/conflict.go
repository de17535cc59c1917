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

// explain returns the Conflict of a problem without a solution. It first finds a minimal set of wishes that exclude each other,
// and then a minimal set of declarations that cause this.
func (p *problem) explain(involved map[source]bool) error {
	core := p.wishes
	if i := slices.IndexFunc(p.wishes, func(w wish) bool { return p.fails([]wish{w}) }); i >= 0 {
		core = p.wishes[i : i+1]
	}
	for i := 0; i < len(core) && len(core) > 1; {
		if reduced := slices.Delete(slices.Clone(core), i, i+1); p.fails(reduced) {
			core = reduced
			continue
		}
		i++
	}
	result := p.solve(core)
	if result.selection == nil && !result.exhausted {
		involved = result.involved
	}
	conflict := &Conflict{sentence: p.sentence(core, p.reduce(core, involved))}
	for i := range core {
		conflict.Wishes = append(conflict.Wishes, core[i].Wish)
	}
	return conflict
}

// fails reports whether the wishes are known to exclude each other.
func (p *problem) fails(wishes []wish) bool {
	result := p.solve(wishes)
	return result.selection == nil && !result.exhausted
}

// reduce returns a minimal set of the involved declarations: without any of them, the wishes no longer exclude each other.
func (p *problem) reduce(core []wish, involved map[source]bool) []source {
	p.activeSources = involved
	defer func() { p.activeSources = nil }()
	var minimal []source
	for _, declaring := range slices.SortedFunc(maps.Keys(involved), p.compareSources) {
		if !p.activeSources[declaring] {
			continue
		}
		previous := p.activeSources
		p.activeSources = maps.Clone(previous)
		delete(p.activeSources, declaring)
		if result := p.solve(core); result.selection == nil && !result.exhausted {
			p.activeSources = result.involved // the conflict needs no other declarations
			continue
		}
		p.activeSources = previous
		minimal = append(minimal, declaring)
	}
	return minimal
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
