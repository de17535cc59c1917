package dependency

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Catalog is what all ClusterManagementAddOns of a hub declare, with the
// graph of it. It does not change once built and is safe for concurrent use.
type Catalog struct {
	declarations map[string]Declaration
	graph        *graph
	// satisfied are the findings on each add-on all of whose dependencies are
	// satisfied: the usual answer, made once for all clusters.
	satisfied map[string][]Finding
}

// NewCatalog builds the catalog of all add-ons registered on a hub.
func NewCatalog(addOns []addonv1alpha1.ClusterManagementAddOn) *Catalog {
	c := &Catalog{
		declarations: make(map[string]Declaration, len(addOns)),
		satisfied:    make(map[string][]Finding, len(addOns)),
	}
	edges := make(map[string][]addonv1alpha1.AddonDependency, len(addOns))
	for i := range addOns {
		declaration := Declare(&addOns[i])
		c.declarations[addOns[i].Name] = declaration
		edges[addOns[i].Name] = declaration.Dependencies
		c.satisfied[addOns[i].Name] = allSatisfied(declaration.Dependencies)
	}
	c.graph = newGraph(edges)
	return c
}

// Declaration returns what the named add-on declares; the zero value for one
// that is not registered. Its contents are shared: they must not be changed.
func (c *Catalog) Declaration(addOn string) Declaration {
	return c.declarations[addOn]
}

// Registered reports whether the hub has a ClusterManagementAddOn of the name.
func (c *Catalog) Registered(addOn string) bool {
	_, registered := c.declarations[addOn]
	return registered
}

// Dependents returns the names, ascending, of the add-ons that have an edge
// on the named one. The slice is shared: it must not be changed.
func (c *Catalog) Dependents(addOn string) []string {
	return c.graph.dependents(addOn)
}

// Cycles returns, for each dependency that closes a cycle of Required edges
// with the named add-on, that cycle in canonical order, first member repeated
// at the end. It is nil for an add-on on no such cycle. The map is shared: it
// must not be changed.
func (c *Catalog) Cycles(addOn string) map[string][]string {
	return c.graph.cycles(addOn)
}

// AddOns returns the names of all registered add-ons, ascending.
func (c *Catalog) AddOns() []string {
	return slices.Sorted(maps.Keys(c.declarations))
}

// Problems returns all that is wrong with the declaration of the named
// add-on, by itself and among the others, in a stable order.
func (c *Catalog) Problems(addOn string) []Problem {
	declaration := c.declarations[addOn]
	problems := slices.Clone(declaration.Problems)
	for _, dependency := range declaration.Dependencies {
		if !c.Registered(dependency.Name) {
			problems = append(problems, newProblem(ProblemNotRegistered,
				fmt.Sprintf("%s: %q has no ClusterManagementAddOn on this hub", declaration.Path, displayName(dependency.Name)),
				"register it or correct the name"))
		}
	}
	cycles := c.Cycles(addOn)
	for _, dependency := range slices.Sorted(maps.Keys(cycles)) {
		problems = append(problems, newProblem(ProblemCycle,
			fmt.Sprintf("%s: %s", declaration.Path, cycleText(cycles[dependency])),
			"make one of these dependencies Optional, or remove it"))
	}
	return slices.Compact(problems)
}

// Changed returns the add-ons, ascending, whose evaluation can differ between
// the two catalogs for equal add-ons on a cluster: their own edges or the
// cycles they are on have changed, or their declaration became usable or not.
func (c *Catalog) Changed(before *Catalog) []string {
	var changed []string
	for addOn := range c.declarations {
		if !c.equal(before, addOn) {
			changed = append(changed, addOn)
		}
	}
	for addOn := range before.declarations {
		if !c.Registered(addOn) {
			changed = append(changed, addOn)
		}
	}
	slices.Sort(changed)
	return changed
}

func (c *Catalog) equal(before *Catalog, addOn string) bool {
	a, b := c.declarations[addOn], before.declarations[addOn]
	return before.Registered(addOn) && a.Invalid == b.Invalid &&
		slices.Equal(a.Dependencies, b.Dependencies) &&
		maps.EqualFunc(c.Cycles(addOn), before.Cycles(addOn), slices.Equal)
}

// cycleText spells a cycle out; a very long one without its middle.
func cycleText(cycle []string) string {
	const ends = 10
	shown := make([]string, 0, 2*ends+1)
	for i, name := range cycle {
		switch {
		case len(cycle) <= 2*ends || i < ends || i >= len(cycle)-ends:
			shown = append(shown, displayName(name))
		case i == ends:
			shown = append(shown, fmt.Sprintf("(%d more)", len(cycle)-2*ends))
		}
	}
	return "dependency cycle: " + strings.Join(shown, " → ")
}
