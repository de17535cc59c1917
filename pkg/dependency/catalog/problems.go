package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// Problems returns all problems of the declaration of the named add-on, by itself and among the others, in a stable order.
func (c *Catalog) Problems(addOn string) []declaration.Problem {
	declared := c.declarations[addOn]
	problems := c.ownProblems(declared)
	cycles := c.Cycles(addOn)
	for _, dependency := range slices.Sorted(maps.Keys(cycles)) {
		problems = append(problems, declaration.NewProblem(declaration.ProblemCycle, declared.PathOf(dependency),
			fmt.Sprintf("%s: %s", declared.Path, CycleText(cycles[dependency])),
			"make one of these dependencies Optional, or remove it"))
	}
	c.circularEdges(addOn, declared, func(edge int, cycle []string) {
		problems = append(problems, declaration.NewProblem(declaration.ProblemCycle, declared.EdgePath(edge),
			fmt.Sprintf("%s: each alternative of %q waits for the add-on itself: %s", declared.Path, text.Name(declared.Edges[edge].Dependency.Name),
				CycleText(cycle)),
			"add an alternative that does not, or make one of these dependencies Optional"))
	})
	for _, cycle := range c.conditional[addOn].possible(addOn, cycles) {
		problems = append(problems, declaration.NewProblem(declaration.ProblemConditionalCycle, declared.Path,
			fmt.Sprintf("%s: %s, where the conditions of its dependencies hold together", declared.Path, CycleText(cycle)),
			"make sure that they never do, or make one of these dependencies Optional"))
	}
	return slices.Compact(problems)
}

// TemplateProblems returns all problems of the declaration of an AddOnTemplate, in a stable order. A cycle is a problem of
// the add-on.
func (c *Catalog) TemplateProblems(template string) []declaration.Problem {
	return slices.Compact(c.ownProblems(c.templates[template].declaration))
}

// ownProblems returns the problems of the declaration alone, and its unregistered dependencies.
func (c *Catalog) ownProblems(d declaration.Declaration) []declaration.Problem {
	problems := slices.Clone(d.Problems)
	for i := range d.Dependencies {
		if dependency := &d.Dependencies[i]; dependency.Type == addonv1alpha1.DependencyTypeIfInstalled || declaration.Conflicts(dependency) {
			continue // the dependency may be absent
		}
		if problem, ok := c.unregistered(d, i); ok {
			problems = append(problems, problem)
		}
		if target := declaration.Target(&d.Dependencies[i]); target != "" && !c.Registered(target) {
			problems = append(problems, declaration.NewProblem(declaration.ProblemNotRegistered, d.PathOf(target),
				fmt.Sprintf("%s: %q has no ClusterManagementAddOn on this hub", d.Path, text.Name(target)),
				"register it or correct the name"))
		}
	}
	return problems
}

// unregistered returns the problem of an edge whose alternatives are all unregistered. If one is registered, the others
// may be for other hubs.
func (c *Catalog) unregistered(declared declaration.Declaration, edge int) (declaration.Problem, bool) {
	alternatives := declared.Edges[edge].Alternatives
	var names []string
	for i := range alternatives {
		if alternatives[i].AddOn == "" || c.Registered(alternatives[i].AddOn) {
			return declaration.Problem{}, false
		}
		names = append(names, alternatives[i].AddOn)
	}
	if len(names) == 0 {
		return declaration.Problem{}, false
	}
	return declaration.NewProblem(declaration.ProblemNotRegistered, declared.EdgePath(edge),
		fmt.Sprintf("%s: none of %s has a ClusterManagementAddOn on this hub", declared.Path, text.Names(names, ", ")), "register one or correct the names"), true
}

// CycleText returns the description of a cycle. It leaves out the middle of a very long cycle.
func CycleText(cycle []string) string { return "dependency cycle: " + ChainText(cycle) }

// ChainText returns the description of a chain of add-ons. It leaves out the middle of a very long chain.
func ChainText(chain []string) string {
	const ends = 10
	shown := make([]string, 0, 2*ends+1)
	for i, name := range chain {
		switch {
		case len(chain) <= 2*ends || i < ends || i >= len(chain)-ends:
			shown = append(shown, text.Name(name))
		case i == ends:
			shown = append(shown, fmt.Sprintf("(%d more)", len(chain)-2*ends))
		}
	}
	return strings.Join(shown, " → ")
}
