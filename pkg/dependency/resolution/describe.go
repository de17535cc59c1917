package resolution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxPassedOver is the number of higher versions that are explained.
const maxPassedOver = 3

// describe explains a solution.
func (p *problem) describe(solved solution) *Resolution {
	described := &Resolution{}
	assumptions := map[string]bool{}
	for _, id := range slices.SortedFunc(maps.Keys(solved.selection), p.compareNames) {
		r := p.candidate(id, solved.selection[id])
		described.Choices = append(described.Choices, Choice{
			AddOn:      r.AddOn,
			Version:    r.Version,
			Because:    p.reasonsFor(solved.selection, id),
			PassedOver: p.passedOver(solved.selection, id),
			Needs:      p.needsOf(solved.selection, id),
		})
		p.addAssumptions(r, assumptions)
	}
	for _, key := range solved.assumed {
		r := p.candidate(key.addOn, solved.selection[key.addOn])
		edge := r.constraints[key.constraint].edge
		assumptions[assumption(r, edge, evaluation.Finding{Dependency: &edge.Dependency}.Target()+" is served")] = true
	}
	described.Assumptions = sortedNames(assumptions)
	return described
}

func (p *problem) compareNames(a, b int) int { return cmp.Compare(p.addOns[a].name, p.addOns[b].name) }

// reasonsFor returns the wishes for the add-on, and the edges of other choices that its release satisfies.
func (p *problem) reasonsFor(selection map[int]int, id int) []string {
	var reasons []string
	for i := range p.wishes {
		if w := &p.wishes[i]; w.addOn == id {
			wanted := "wanted"
			if w.OnlyIfNeeded {
				wanted = "wanted only if it is needed"
			}
			reasons = append(reasons, describe(wanted, w.Version))
		}
	}
	isSatisfied := func(t target) bool { return t.addOn == id && t.releases.contains(selection[id]) }
	for _, dependentID := range slices.SortedFunc(maps.Keys(selection), p.compareNames) {
		dependent := p.candidate(dependentID, selection[dependentID])
		for n := range dependent.constraints {
			c := &dependent.constraints[n]
			if dependentID != id && slices.ContainsFunc(c.targets, isSatisfied) && (c.triggers == nil || c.need) {
				reasons = append(reasons, fmt.Sprintf("%s %s %s", text.Name(dependent.AddOn), dependent.Version, phrase(c.edge)))
			}
		}
	}
	return reasons
}

// needsOf returns the chosen add-ons that a choice needs.
func (p *problem) needsOf(selection map[int]int, id int) []string {
	needs := map[string]bool{}
	for _, c := range p.candidate(id, selection[id]).constraints {
		if declaration.Conflicts(&c.edge.Dependency) || c.edge.Dependency.Type == addonv1alpha1.DependencyTypeIfInstalled {
			continue
		}
		for _, t := range c.targets {
			if _, ok := selection[t.addOn]; ok && t.addOn != id {
				needs[p.addOns[t.addOn].name] = true
			}
		}
	}
	return sortedNames(needs)
}

// passedOver explains the highest versions above the chosen one.
func (p *problem) passedOver(selection map[int]int, id int) []PassedOver {
	var versions []PassedOver
	for i := range min(selection[id], maxPassedOver) {
		versions = append(versions, PassedOver{p.addOns[id].releases[i].Version, p.reasonAgainst(selection, id, i)})
	}
	return versions
}

// reasonAgainst returns the reason why a release is not chosen beside the other choices.
func (p *problem) reasonAgainst(selection map[int]int, id, i int) string {
	r := p.candidate(id, i)
	if !p.addOns[id].selectable.contains(i) {
		return "it is a prerelease, and nothing asks for it"
	}
	for n := range p.wishes {
		if w := &p.wishes[n]; w.addOn == id && !w.releases.contains(i) {
			return describe("it is wanted", w.Version)
		}
	}
	if len(r.refusals) > 0 {
		return r.refusals[0].reason
	}
	for _, dependentID := range slices.SortedFunc(maps.Keys(selection), p.compareNames) {
		dependent := p.candidate(dependentID, selection[dependentID])
		for n := range dependent.constraints {
			if c := &dependent.constraints[n]; dependentID != id && (!c.need || c.single()) && p.rejects(c, id, i) {
				return fmt.Sprintf("%s %s %s", text.Name(dependent.AddOn), dependent.Version, phrase(c.edge))
			}
		}
	}
	for n := range r.constraints {
		c := &r.constraints[n]
		for t := range c.targets {
			dependency := c.targets[t].addOn
			chosen, ok := selection[dependency]
			if ok && dependency != id && (!c.need || c.single()) && p.rejects(c, dependency, chosen) {
				return fmt.Sprintf("it %s, and %s is chosen in version %s",
					phrase(c.edge), text.Name(p.addOns[dependency].name), p.addOns[dependency].releases[chosen].Version)
			}
		}
	}
	if cycle := p.cycleWith(selection, id, i); cycle != "" {
		return "with it, there is a " + cycle
	}
	return "with it, nothing satisfies all wishes"
}

// rejects reports whether a constraint excludes a release of an add-on.
func (p *problem) rejects(c *constraint, id, i int) bool {
	return slices.ContainsFunc(c.targets, func(t target) bool { return t.addOn == id && !t.releases.contains(i) })
}

// addAssumptions adds the conditions on a cluster that a choice relies on, and that cannot be checked without a cluster.
func (p *problem) addAssumptions(r *release, assumptions map[string]bool) {
	add := func(edge *declaration.Edge, condition string) { assumptions[assumption(r, edge, condition)] = true }
	for _, name := range differingTemplates(r.Release) {
		assumptions[fmt.Sprintf("%s %s: its AddOnTemplate %s, which a Placement names and which declares other dependencies, does not run there",
			text.Name(r.AddOn), r.Version, text.Name(name))] = true
	}
	evaluated := p.evaluate(r)
	for i := range evaluated.declaration.Edges {
		edge := &evaluated.declaration.Edges[i]
		if edge.When != nil && edge.When.Inputs().Any(input.AddOn|input.Config) {
			add(edge, "its condition reads the labels, annotations or settings of the add-on, which are taken to be empty")
		}
		if edge.Config != nil && (evaluated.findings == nil || evaluated.findings[i].Verdict != evaluation.NotApplicable) {
			add(edge, "the settings are as it requires: "+text.Excerpt(edge.Dependency.Config.Expression))
		}
	}
}

// differingTemplates returns the AddOnTemplates for Placements that declare other dependencies than the release.
func differingTemplates(r *Release) []string {
	var names []string
	own := readDeclaration(r)
	for i := range r.PlacementTemplates {
		other := *r
		other.Template = &r.PlacementTemplates[i]
		declared := readDeclaration(&other)
		if !equality.Semantic.DeepEqual(declared.Dependencies, own.Dependencies) ||
			!equality.Semantic.DeepEqual(declared.Requirements, own.Requirements) {
			names = append(names, other.Template.Name)
		}
	}
	return names
}

func assumption(r *release, edge *declaration.Edge, condition string) string {
	return fmt.Sprintf("%s %s, dependency %s: %s", text.Name(r.AddOn), r.Version, text.Name(edge.Dependency.Name), condition)
}
