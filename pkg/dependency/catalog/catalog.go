// Package catalog has what all ClusterManagementAddOns of a hub declare: their
// dependents and cycles, the providers of APIs, and what is wrong.
package catalog

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// Catalog is what all ClusterManagementAddOns of a hub declare, with the
// graph of it. It does not change once built and is safe for concurrent use.
// What it returns is shared: it must not be changed.
type Catalog struct {
	registrations
	// versions are those in the annotations of registrations.
	versions map[string]versions.Annotated
	// installs has every registered add-on.
	installs  map[string]Install
	providers map[providedKind][]provider
	// compared are the add-ons whose versions edges compare.
	compared map[string]bool
	// edges has the edges on add-ons, required those that are always waited for.
	edges, required *graph.Graph
	conditional     map[string]*ConditionalCycle
	// circular has the add-ons that wait for each other where alternatives are waited for.
	circular map[string]*ConditionalCycle
	// templates are the AddOnTemplates that declare something, by name, and variantsOf their
	// names by add-on, ascending.
	templates  map[string]templated
	variantsOf map[string][]string
	// usesTemplates are the add-ons that can be deployed from AddOnTemplates.
	usesTemplates map[string]bool
	// templatesUnread: the AddOnTemplates could not be read yet.
	templatesUnread bool
	// labeled has how Placements let Interlock install add-ons; nil: they were not read.
	labeled map[string]Labeled
	// policies are those that Under has taken.
	policies policy.Set
	// partial: other add-ons may be registered.
	partial bool
	// others has the add-ons that this catalog leaves out, see Outline; nil: none.
	others *Outline
}

// New builds the catalog of all add-ons registered on a hub, with its AddOnTemplates.
func New(addOns []addonv1alpha1.ClusterManagementAddOn, templates ...addonv1alpha1.AddOnTemplate) *Catalog {
	return (*Catalog)(nil).Renew(addOns, Templates{Items: templates})
}

// Some builds a catalog where it is known what some add-ons declare, and not which others are
// registered.
func Some(addOns []addonv1alpha1.ClusterManagementAddOn, templates ...addonv1alpha1.AddOnTemplate) *Catalog {
	some := New(addOns, templates...)
	some.partial = true
	return some
}

// Renew builds the catalog of all add-ons registered on a hub, and compiles
// only those declarations that this one, which may be nil, has not. It keeps
// what it is given: that must not be changed afterwards.
func (c *Catalog) Renew(addOns []addonv1alpha1.ClusterManagementAddOn, templates Templates) *Catalog {
	if c == nil {
		c = &Catalog{}
	}
	renewed := &Catalog{versions: map[string]versions.Annotated{}, installs: make(map[string]Install, len(addOns))}
	renewed.registrations, _ = c.renew(addOns, declaration.Read)
	for i := range addOns {
		renewed.installs[addOns[i].Name] = InstallOf(&addOns[i])
		if version := versions.In(addOns[i].Annotations); version != (versions.Annotated{}) {
			renewed.versions[addOns[i].Name] = version
		}
	}
	renewed.addTemplates(addOns, templates, c)
	renewed.connect()
	return renewed
}

// connect finds what the declarations are to each other.
func (c *Catalog) connect() {
	edges, required := make(map[string][]string, len(c.declarations)), make(map[string][]string, len(c.declarations))
	declared := make(map[string][]variant, len(c.declarations))
	for addOn := range c.declarations {
		declared[addOn] = c.variants(addOn)
		edges[addOn], required[addOn] = c.targetsOf(addOn)
	}
	c.edges, c.required = graph.New(edges), graph.New(required)
	c.conditional, c.circular = findConditionalCycles(declared), findCircular(declared)
	c.providers, c.compared = findProviders(declared), findCompared(declared)
}

// registrations are declarations with their sources, by add-on.
type registrations struct {
	declarations map[string]declaration.Declaration
	sources      map[string]declaration.Source
}

// renew returns the declarations of all add-ons, and whether one differs. It reads only
// those that it has not.
func (r registrations) renew(
	addOns []addonv1alpha1.ClusterManagementAddOn, read func(*addonv1alpha1.ClusterManagementAddOn) declaration.Declaration,
) (renewed registrations, changed bool) {
	renewed.declarations = make(map[string]declaration.Declaration, len(addOns))
	renewed.sources = make(map[string]declaration.Source, len(addOns))
	changed = len(addOns) != len(r.sources)
	for i := range addOns {
		name, source := addOns[i].Name, declaration.SourceOf(&addOns[i])
		if known, ok := r.sources[name]; ok && known.Equal(source) {
			renewed.declarations[name], renewed.sources[name] = r.declarations[name], known
			continue
		}
		renewed.declarations[name], renewed.sources[name] = read(&addOns[i]), source
		changed = true
	}
	return renewed, changed
}

// targets are the add-ons that edges are on, and those that are always waited
// for: an edge with a condition does not apply everywhere, nor does one that policies override. An alternative may not be
// waited for.
func targets(declared declaration.Declaration) (all, required []string) {
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		for end := range edge.Ends() {
			if end.AddOn != "" {
				all = append(all, end.AddOn)
			}
		}
		if edge.Waits() && edge.When == nil && len(edge.Overrides) == 0 {
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

// Has reports whether the catalog has what a registration declares, in that state of it.
func (c *Catalog) Has(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	source, ok := c.sources[addOn.Name]
	return ok && source.Equal(declaration.SourceOf(addOn))
}

// Known reports whether it is known what the registration of the add-on declares. Where its
// declaration cannot be used, its verdicts stay as they are.
func (c *Catalog) Known(addOn string) bool { return !c.declarations[addOn].Invalid }

// Registered reports whether the hub has a ClusterManagementAddOn of the name.
func (c *Catalog) Registered(addOn string) bool {
	_, registered := c.declarations[addOn]
	return registered || c.others.registered(addOn)
}

// Unregistered reports whether the hub is known to have no ClusterManagementAddOn of the name.
func (c *Catalog) Unregistered(addOn string) bool { return !c.partial && !c.Registered(addOn) }

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
// in what they declare, in the version of the add-on, in whether it has templates, and in how
// OCM installs it.
func Same(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	return declaration.SourceOf(a).Equal(declaration.SourceOf(b)) &&
		versions.In(a.Annotations) == versions.In(b.Annotations) && declaration.UsesTemplates(a) == declaration.UsesTemplates(b) &&
		InstallOf(a).equal(InstallOf(b))
}
