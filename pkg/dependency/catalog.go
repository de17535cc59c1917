package dependency

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Catalog is what all ClusterManagementAddOns of a hub declare, with the
// graph of it. It does not change once built and is safe for concurrent use.
type Catalog struct {
	declarations map[string]Declaration
	sources      map[string]source
	// versions are those that the registrations say their add-ons have.
	versions  map[string]AnnotatedVersion
	providers map[providedKind][]provider
	graph     *graph
	knots     map[string]*knot
	uses      Uses // of all together
}

// NewCatalog builds the catalog of all add-ons registered on a hub.
func NewCatalog(addOns []addonv1alpha1.ClusterManagementAddOn) *Catalog {
	return (*Catalog)(nil).Renew(addOns)
}

// Renew builds the catalog of all add-ons registered on a hub, and compiles
// only those declarations that this one, which may be nil, has not. It keeps
// what it is given: that must not be changed afterwards.
func (c *Catalog) Renew(addOns []addonv1alpha1.ClusterManagementAddOn) *Catalog {
	renewed := &Catalog{
		declarations: make(map[string]Declaration, len(addOns)),
		sources:      make(map[string]source, len(addOns)),
		versions:     map[string]AnnotatedVersion{},
	}
	edges := make(map[string][]link, len(addOns))
	for i := range addOns {
		addOn := &addOns[i]
		declaration := c.declare(addOn)
		renewed.declarations[addOn.Name] = declaration
		renewed.sources[addOn.Name] = sourceOf(addOn)
		if version := VersionIn(addOn.Annotations); version != (AnnotatedVersion{}) {
			renewed.versions[addOn.Name] = version
		}
		edges[addOn.Name] = declaration.links()
	}
	renewed.graph = newGraph(edges)
	renewed.knots = findKnots(renewed.declarations)
	renewed.providers = findProviders(renewed.declarations)
	for addOn := range renewed.declarations {
		renewed.uses |= renewed.Uses(addOn)
	}
	return renewed
}

// declare returns what the catalog has compiled of the same declaration, else
// compiles it.
func (c *Catalog) declare(addOn *addonv1alpha1.ClusterManagementAddOn) Declaration {
	if c != nil {
		if known, ok := c.sources[addOn.Name]; ok && known.equal(sourceOf(addOn)) {
			return c.declarations[addOn.Name]
		}
	}
	declaration := Declare(addOn)
	declaration.satisfied = allSatisfied(declaration.edges)
	return declaration
}

// links are the edges on add-ons; those with a condition bind nobody here.
func (d Declaration) links() []link {
	var links []link
	for i := range d.edges {
		if e := &d.edges[i]; e.on != "" {
			links = append(links, link{to: e.on, required: e.waits() && e.when == nil})
		}
	}
	return links
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
	for i := range declaration.Dependencies {
		if declaration.Dependencies[i].Type == addonv1alpha1.DependencyTypeIfInstalled {
			continue // that it is not there is fine
		}
		if target := Target(&declaration.Dependencies[i]); target != "" && !c.Registered(target) {
			problems = append(problems, newProblem(ProblemNotRegistered,
				fmt.Sprintf("%s: %q has no ClusterManagementAddOn on this hub", declaration.Path, displayName(target)),
				"register it or correct the name"))
		}
	}
	cycles := c.Cycles(addOn)
	for _, dependency := range slices.Sorted(maps.Keys(cycles)) {
		problems = append(problems, newProblem(ProblemCycle,
			fmt.Sprintf("%s: %s", declaration.Path, cycleText(cycles[dependency])),
			"make one of these dependencies Optional, or remove it"))
	}
	if k := c.knots[addOn]; k != nil {
		for _, cycle := range k.possible(addOn, cycles) {
			problems = append(problems, newProblem(ProblemConditionalCycle,
				fmt.Sprintf("%s: %s, where the conditions of its dependencies hold together", declaration.Path, cycleText(cycle)),
				"make sure that they never do, or make one of these dependencies Optional"))
		}
	}
	return slices.Compact(problems)
}

// Changed returns the add-ons, ascending, whose evaluation can differ between
// the two catalogs for equal add-ons on a cluster: what they declare or the
// cycles they are on have changed, or what the hub says of the add-ons and
// APIs that they depend on, or their declaration became usable or not.
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

// equal compares what is meant, not how it is written: an empty list of
// identifiers is none.
func (c *Catalog) equal(before *Catalog, addOn string) bool {
	a, b := c.declarations[addOn], before.declarations[addOn]
	return before.Registered(addOn) && a.Invalid == b.Invalid &&
		equality.Semantic.DeepEqual(a.Dependencies, b.Dependencies) &&
		equality.Semantic.DeepEqual(a.Requirements, b.Requirements) &&
		maps.EqualFunc(c.Cycles(addOn), before.Cycles(addOn), slices.Equal) &&
		c.knots[addOn].text() == before.knots[addOn].text() &&
		!slices.ContainsFunc(a.Dependencies, func(d addonv1alpha1.AddonDependency) bool { return c.differs(before, &d) })
}

// differs reports whether the hub says something else of what an edge is on.
func (c *Catalog) differs(before *Catalog, dependency *addonv1alpha1.AddonDependency) bool {
	if dependency.API != nil {
		return !slices.Equal(c.Providers(*dependency.API), before.Providers(*dependency.API))
	}
	target := Target(dependency)
	return asksVersion(dependency) && c.versions[target] != before.versions[target]
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
