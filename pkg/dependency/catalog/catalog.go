// Package catalog has what all ClusterManagementAddOns of a hub declare: their
// dependents and cycles, the providers of APIs, and what is wrong.
package catalog

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// Catalog is what all ClusterManagementAddOns of a hub declare, with the
// graph of it. It does not change once built and is safe for concurrent use.
// What it returns is shared: it must not be changed.
type Catalog struct {
	declarations map[string]declaration.Declaration
	sources      map[string]declaration.Source
	// versions are those in the annotations of registrations.
	versions  map[string]versions.Annotated
	providers map[providedKind][]provider
	// edges has the edges on add-ons, required those that are always waited for.
	edges, required *graph.Graph
	conditional     map[string]*ConditionalCycle
	// others has the add-ons that are not in this catalog; nil: there are none.
	others *Catalog
	// fieldsUnread: only annotations could be read.
	fieldsUnread bool
}

// New builds the catalog of all add-ons registered on a hub.
func New(addOns []addonv1alpha1.ClusterManagementAddOn) *Catalog {
	return (*Catalog)(nil).Renew(addOns)
}

// Renew builds the catalog of all add-ons registered on a hub, and compiles
// only those declarations that this one, which may be nil, has not. It keeps
// what it is given: that must not be changed afterwards. It returns this catalog if
// nothing has changed.
func (c *Catalog) Renew(addOns []addonv1alpha1.ClusterManagementAddOn) *Catalog {
	changed := c == nil || len(addOns) != len(c.declarations)
	renewed := &Catalog{
		declarations: make(map[string]declaration.Declaration, len(addOns)),
		sources:      make(map[string]declaration.Source, len(addOns)),
		versions:     map[string]versions.Annotated{},
	}
	for i := range addOns {
		addOn := &addOns[i]
		source := declaration.SourceOf(addOn)
		declared, same := c.declared(addOn.Name, source)
		if !same {
			declared = declaration.Read(addOn)
		}
		renewed.declarations[addOn.Name] = declared
		renewed.sources[addOn.Name] = source
		version := versions.In(addOn.Annotations)
		if version != (versions.Annotated{}) {
			renewed.versions[addOn.Name] = version
		}
		changed = changed || !same || version != c.versions[addOn.Name]
	}
	if !changed {
		return c
	}
	renewed.connect()
	return renewed
}

// declared returns what the catalog has compiled of the same declaration.
func (c *Catalog) declared(addOn string, source declaration.Source) (declared declaration.Declaration, same bool) {
	if c == nil {
		return declared, false
	}
	known, ok := c.sources[addOn]
	return c.declarations[addOn], ok && known.Equal(source)
}

// connect finds what the declarations are to each other.
func (c *Catalog) connect() {
	edges, required := make(map[string][]string, len(c.declarations)), make(map[string][]string, len(c.declarations))
	for addOn, declared := range c.declarations {
		edges[addOn], required[addOn] = targets(declared)
	}
	c.edges, c.required = graph.New(edges), graph.New(required)
	c.conditional = findConditionalCycles(c.declarations)
	c.providers = findProviders(c.declarations)
}

// With returns a catalog by which to judge an add-on among those of this one. It has
// only the add-ons that could be on a cycle with it: usually none.
func (c *Catalog) With(addOn *addonv1alpha1.ClusterManagementAddOn) *Catalog {
	declared := declaration.Read(addOn)
	with := &Catalog{declarations: map[string]declaration.Declaration{}, others: c}
	dependencies, _ := targets(declared)
	for _, name := range c.edges.Between(dependencies, addOn.Name) {
		with.declarations[name] = c.declarations[name]
	}
	with.declarations[addOn.Name] = declared
	with.connect()
	return with
}

// targets are the add-ons that edges are on, and those that are always waited
// for: an edge with a condition does not apply everywhere.
func targets(declared declaration.Declaration) (all, required []string) {
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		if edge.AddOn == "" {
			continue
		}
		all = append(all, edge.AddOn)
		if edge.Waits() && edge.When == nil {
			required = append(required, edge.AddOn)
		}
	}
	return all, required
}

// Declaration returns what the named add-on declares; the zero value for one
// that is not registered.
func (c *Catalog) Declaration(addOn string) declaration.Declaration {
	return c.declarations[addOn]
}

// Registered reports whether the hub has a ClusterManagementAddOn of the name.
func (c *Catalog) Registered(addOn string) bool {
	_, registered := c.declarations[addOn]
	return registered || c.others != nil && c.others.Registered(addOn)
}

// AddOns returns the names of all registered add-ons, ascending.
func (c *Catalog) AddOns() []string {
	return slices.Sorted(maps.Keys(c.declarations))
}

// Version is the version in the annotations of the add-on's registration.
func (c *Catalog) Version(addOn string) versions.Annotated { return c.versions[addOn] }

// Dependents returns the names, ascending, of the add-ons that have an edge
// on the named one.
func (c *Catalog) Dependents(addOn string) []string {
	return c.edges.Dependents(addOn)
}

// Cycles returns, for each dependency that closes a cycle of Required edges
// with the named add-on, that cycle in canonical order, first member repeated
// at the end. It is nil for an add-on on no such cycle. Edges with a condition
// are left out: see Conditional.
func (c *Catalog) Cycles(addOn string) map[string][]string {
	return c.required.Cycles(addOn)
}

// Same reports whether two states of a registration are the same to a catalog:
// in what they declare, and in the version of the add-on.
func Same(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	return declaration.SourceOf(a).Equal(declaration.SourceOf(b)) &&
		versions.In(a.Annotations) == versions.In(b.Annotations)
}
