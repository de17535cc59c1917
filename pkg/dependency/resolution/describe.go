package resolution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxPassedOver is how many higher versions are explained.
const maxPassedOver = 3

// describe explains a solution.
func (p *problem) describe(found solution) *Resolution {
	described := &Resolution{}
	assumed := map[string]bool{}
	for _, id := range slices.SortedFunc(maps.Keys(found.chosen), p.compareNames) {
		one := p.candidate(id, found.chosen[id])
		described.Choices = append(described.Choices, Choice{
			AddOn: one.AddOn, Version: one.Version, Because: p.because(found.chosen, id),
			PassedOver: p.passedOver(found.chosen, id), Needs: p.needsOf(found.chosen, id),
		})
		p.assume(one, assumed)
	}
	for _, key := range found.assumed {
		one := p.candidate(key.addOn, found.chosen[key.addOn])
		of := one.constraints[key.constraint].edge
		assumed[assumption(one, of, evaluation.Finding{Dependency: &of.Dependency}.Target()+" is served")] = true
	}
	described.Assumptions = sortedNames(assumed)
	return described
}

func (p *problem) compareNames(a, b int) int { return cmp.Compare(p.addOns[a].name, p.addOns[b].name) }

// because are the wishes and the edges of other choices that the add-on satisfies.
func (p *problem) because(chosen map[int]int, id int) []string {
	var because []string
	for i := range p.wishes {
		if one := &p.wishes[i]; one.addOn == id {
			what := "wanted"
			if one.OnlyIfNeeded {
				what = "wanted only if it is needed"
			}
			because = append(because, describe(what, one.Version))
		}
	}
	for _, by := range slices.SortedFunc(maps.Keys(chosen), p.compareNames) {
		dependent := p.candidate(by, chosen[by])
		for c := range dependent.constraints {
			edge := &dependent.constraints[c]
			if by != id && slices.ContainsFunc(edge.targets, func(on target) bool { return on.addOn == id && on.accepts.has(chosen[id]) }) &&
				(edge.where == nil || edge.need) {
				because = append(because, fmt.Sprintf("%s %s %s", text.Name(dependent.AddOn), dependent.Version, phrase(edge.edge)))
			}
		}
	}
	return because
}

// needsOf are the chosen add-ons that a choice needs.
func (p *problem) needsOf(chosen map[int]int, id int) []string {
	needs := map[string]bool{}
	for _, one := range p.candidate(id, chosen[id]).constraints {
		if declaration.Conflicts(&one.edge.Dependency) || one.edge.Dependency.Type == addonv1alpha1.DependencyTypeIfInstalled {
			continue
		}
		for _, on := range one.targets {
			if _, is := chosen[on.addOn]; is && on.addOn != id {
				needs[p.addOns[on.addOn].name] = true
			}
		}
	}
	return sortedNames(needs)
}

// passedOver explains the highest versions above the chosen one.
func (p *problem) passedOver(chosen map[int]int, id int) []PassedOver {
	var passed []PassedOver
	for i := range min(chosen[id], maxPassedOver) {
		passed = append(passed, PassedOver{p.addOns[id].releases[i].Version, p.against(chosen, id, i)})
	}
	return passed
}

// against is why a release is not chosen beside the other choices.
func (p *problem) against(chosen map[int]int, id, i int) string {
	one := p.candidate(id, i)
	if !p.addOns[id].asked.has(i) {
		return "it is a prerelease, and no wish asks for it"
	}
	for w := range p.wishes {
		if wanted := &p.wishes[w]; wanted.addOn == id && !wanted.accepts.has(i) {
			return describe("it is wanted", wanted.Version)
		}
	}
	if len(one.refusals) > 0 {
		return one.refusals[0].because
	}
	for _, by := range slices.SortedFunc(maps.Keys(chosen), p.compareNames) {
		dependent := p.candidate(by, chosen[by])
		for c := range dependent.constraints {
			if edge := &dependent.constraints[c]; by != id && (!edge.need || edge.single()) && p.rejects(edge, id, i) {
				return fmt.Sprintf("%s %s %s", text.Name(dependent.AddOn), dependent.Version, phrase(edge.edge))
			}
		}
	}
	for c := range one.constraints {
		edge := &one.constraints[c]
		for t := range edge.targets {
			on := edge.targets[t].addOn
			other, is := chosen[on]
			if is && on != id && (!edge.need || edge.single()) && p.rejects(edge, on, other) {
				return fmt.Sprintf("it %s, and %s is chosen in version %s",
					phrase(edge.edge), text.Name(p.addOns[on].name), p.addOns[on].releases[other].Version)
			}
		}
	}
	return "with it, nothing satisfies all wishes"
}

// rejects reports whether the edge excludes a release of an add-on.
func (p *problem) rejects(edge *constraint, id, i int) bool {
	return slices.ContainsFunc(edge.targets, func(on target) bool { return on.addOn == id && !on.accepts.has(i) })
}

// assume adds what a choice needs to be true of a cluster and cannot be known here.
func (p *problem) assume(one *release, assumed map[string]bool) {
	add := func(of *declaration.Edge, what string) { assumed[assumption(one, of, what)] = true }
	declared := p.evaluate(one)
	for i := range declared.declared.Edges {
		edge := &declared.declared.Edges[i]
		if edge.When != nil && edge.When.Inputs().Any(input.AddOn|input.Config) {
			add(edge, "its condition reads the labels, annotations or settings of the add-on, which are taken to be empty")
		}
		if edge.Config != nil && (declared.findings == nil || declared.findings[i].Verdict != evaluation.NotApplicable) {
			add(edge, "the settings are as it requires: "+text.Excerpt(edge.Dependency.Config.Expression))
		}
	}
}

func assumption(one *release, of *declaration.Edge, what string) string {
	return fmt.Sprintf("%s %s, dependency %s: %s", text.Name(one.AddOn), one.Version, text.Name(of.Dependency.Name), what)
}
