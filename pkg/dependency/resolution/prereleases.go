package resolution

import (
	"regexp"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

// setSelectable sets the selectable releases of every add-on. A prerelease needs a wish whose range asks for it. A range of
// all versions does not. An edge on exactly one prerelease asks for it too; see resolve.
func (p *problem) setSelectable() {
	for id, addOn := range p.addOns {
		addOn.selectable = bitset{}
		for i := range addOn.releases {
			if addOn.releases[i].version.Prerelease() == "" {
				addOn.selectable.add(i)
			}
		}
		for i := range p.wishes {
			if w := &p.wishes[i]; w.addOn == id && (w.Prereleases != nil || w.Version != "" && w.Version != versions.Any) {
				addOn.selectable.join(w.releases)
			}
		}
	}
	p.addRequestedPrereleases()
}

// addRequestedPrereleases makes the prereleases selectable that an edge of any release names exactly.
func (p *problem) addRequestedPrereleases() {
	hasPrerelease := func(addOn *addOn) bool {
		return slices.ContainsFunc(addOn.releases, func(r release) bool { return r.version.Prerelease() != "" })
	}
	if !slices.ContainsFunc(p.addOns, hasPrerelease) {
		return
	}
	for _, addOn := range p.addOns {
		for i := range addOn.releases {
			if r := &addOn.releases[i]; mayNamePrerelease(r.Release) {
				p.addRequestsOf(r)
			}
		}
	}
}

// addRequestsOf makes the prereleases selectable that the edges of a release name exactly.
func (p *problem) addRequestsOf(r *release) {
	declared := p.evaluate(r).declaration
	for i := range declared.Edges {
		for end := range declared.Edges[i].Ends() {
			id, ok := p.ids[end.AddOn]
			if !ok || declaration.Conflicts(&end.Dependency) {
				continue
			}
			for n := range p.addOns[id].releases {
				if p.addOns[id].selectable.contains(n) || !p.namesExactly(end, id, n) {
					continue
				}
				p.addOns[id].selectable.add(n)
				p.addOns[id].requested.add(n)
			}
		}
	}
}

// namesExactly reports whether the range of an edge has exactly a prerelease as one of its alternatives.
func (p *problem) namesExactly(edge *declaration.Edge, id, i int) bool {
	version := p.addOns[id].releases[i].version
	if version.Prerelease() == "" || edge.Versions == nil || edge.Versions.Mismatch(version) != "" {
		return false
	}
	for _, exact := range versions.ExactVersions(edge.Dependency.Version) {
		if exact.Equal(version) {
			return true
		}
	}
	return false
}

// dashed matches a prerelease in the text of a declaration.
var dashed = regexp.MustCompile(`\d-[0-9A-Za-z]`)

// mayNamePrerelease reports whether a release may have an edge on a prerelease. It reads no declaration, because a catalog has thousands.
func mayNamePrerelease(r *Release) bool {
	if r.Template != nil && dashed.MatchString(r.Template.Annotations[addonv1alpha1.TemplateDependenciesAnnotation]) {
		return true
	}
	return dashed.MatchString(r.Registration.Annotations[addonv1alpha1.DependenciesAnnotation]) ||
		slices.ContainsFunc(r.Registration.Spec.Dependencies, func(edge addonv1alpha1.AddonDependency) bool {
			return strings.Contains(edge.Version, "-") ||
				slices.ContainsFunc(edge.AnyOf, func(end addonv1alpha1.DependencyAlternative) bool { return strings.Contains(end.Version, "-") })
		})
}

// withoutUnrequested returns a solution in which every prerelease that only edges ask for has an edge of a chosen release that does. If
// there is none, it returns the solution that it gets: a prerelease is better than no solution.
func (p *problem) withoutUnrequested(solved solution) solution {
	for {
		unrequested := map[int]int{}
		for id, i := range solved.selection {
			if p.addOns[id].requested.contains(i) && !p.isRequested(solved.selection, id, i) {
				unrequested[id] = i
			}
		}
		if len(unrequested) == 0 {
			return solved
		}
		for id, i := range unrequested {
			p.addOns[id].selectable.remove(i)
		}
		again := p.solve(p.wishes)
		if again.selection == nil {
			for id, i := range unrequested {
				p.addOns[id].selectable.add(i)
			}
			return solved
		}
		solved = again
	}
}

// isRequested reports whether an edge of a chosen release names a prerelease exactly.
func (p *problem) isRequested(selection map[int]int, id, i int) bool {
	for dependent, chosen := range selection {
		for _, c := range p.candidate(dependent, chosen).constraints {
			for end := range c.edge.Ends() {
				if end.AddOn == p.addOns[id].name && !declaration.Conflicts(&end.Dependency) && p.namesExactly(end, id, i) {
					return true
				}
			}
		}
	}
	return false
}
