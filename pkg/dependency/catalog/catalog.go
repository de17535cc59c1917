// Package catalog has the declarations of all ClusterManagementAddOns of a hub: their dependents and cycles, the providers
// of APIs, and the problems of declarations.
package catalog

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// Catalog has the declarations of all ClusterManagementAddOns of a hub, with their graph. It does not change once built
// and is safe for concurrent use. Its results are shared and must not be changed.
type Catalog struct {
	registrations
	// versions has the versions in the annotations of registrations.
	versions map[string]versions.Annotated
	// installs has every registered add-on.
	installs  map[string]Install
	providers map[providedKind][]provider
	// comparedVersions has the add-ons whose versions an edge compares.
	comparedVersions map[string]bool
	// edges has the edges on add-ons. required has the Required edges that apply on all clusters.
	edges, required *graph.Graph
	conditional     map[string]*ConditionalCycle
	// circular has the add-ons that wait for each other if their alternatives wait too.
	circular map[string]*ConditionalCycle
	// templates has the AddOnTemplates with a declaration, by name. variantsOf has their names by add-on, in ascending
	// order.
	templates  map[string]templated
	variantsOf map[string][]string
	// usesTemplates has the add-ons that can be deployed from AddOnTemplates.
	usesTemplates map[string]bool
	// templatesUnread is true if the AddOnTemplates could not be read yet.
	templatesUnread bool
	// labeled has the consents to installations that Placements give. It is nil if Placements were not read.
	labeled map[string]Labeled
	// policies are the policies that the declarations follow.
	policies policy.Set
	// partial is true if other add-ons may be registered.
	partial bool
	// outline has the add-ons that this catalog leaves out. It is nil if it leaves out none.
	outline *Outline
}

// New builds the catalog of all add-ons registered on a hub, with its AddOnTemplates.
func New(addOns []addonv1alpha1.ClusterManagementAddOn, templates ...addonv1alpha1.AddOnTemplate) *Catalog {
	return (*Catalog)(nil).Renew(addOns, Templates{Items: templates})
}

// NewPartial builds a catalog of some add-ons. Other add-ons may be registered.
func NewPartial(addOns []addonv1alpha1.ClusterManagementAddOn, templates ...addonv1alpha1.AddOnTemplate) *Catalog {
	c := New(addOns, templates...)
	c.partial = true
	return c
}

// Renew builds the catalog of all add-ons registered on a hub. It compiles only those declarations that the old catalog,
// which may be nil, does not have. It keeps its arguments, which must not be changed afterwards.
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

// connect finds the edges, cycles and providers that the declarations make together.
func (c *Catalog) connect() {
	edges, required := make(map[string][]string, len(c.declarations)), make(map[string][]string, len(c.declarations))
	variants := make(map[string][]variant, len(c.declarations))
	for addOn := range c.declarations {
		variants[addOn] = c.variants(addOn)
		edges[addOn], required[addOn] = c.targetsOf(addOn)
	}
	c.edges, c.required = graph.New(edges), graph.New(required)
	c.conditional, c.circular = findConditionalCycles(variants), findCircular(variants)
	c.providers, c.comparedVersions = findProviders(variants), findCompared(variants)
}

// registrations has declarations with their sources, by add-on.
type registrations struct {
	declarations map[string]declaration.Declaration
	sources      map[string]declaration.Source
}

// renew returns the declarations of all add-ons. It reads only new and changed declarations, and reports whether there are
// any.
func (r registrations) renew(
	addOns []addonv1alpha1.ClusterManagementAddOn, read func(*addonv1alpha1.ClusterManagementAddOn) declaration.Declaration,
) (registrations, bool) {
	renewed := registrations{
		declarations: make(map[string]declaration.Declaration, len(addOns)),
		sources:      make(map[string]declaration.Source, len(addOns)),
	}
	changed := len(addOns) != len(r.sources)
	for i := range addOns {
		name, source := addOns[i].Name, declaration.SourceOf(&addOns[i])
		if stored, ok := r.sources[name]; ok && stored.Equal(source) {
			renewed.declarations[name], renewed.sources[name] = r.declarations[name], stored
			continue
		}
		renewed.declarations[name], renewed.sources[name] = read(&addOns[i]), source
		changed = true
	}
	return renewed, changed
}

// targets returns the add-ons that edges are on. required has those that the dependent waits for on all clusters. An edge
// with a condition or an override does not apply everywhere, and an alternative need not be waited for.
func targets(d declaration.Declaration) (dependencies, required []string) {
	for i := range d.Edges {
		edge := &d.Edges[i]
		for end := range edge.Ends() {
			if end.AddOn != "" {
				dependencies = append(dependencies, end.AddOn)
			}
		}
		if edge.Waits() && edge.When == nil && len(edge.Overrides) == 0 {
			required = append(required, edge.AddOn)
		}
	}
	return dependencies, required
}

// Declaration returns the declaration of the named add-on. It is the zero value for an unregistered add-on.
func (c *Catalog) Declaration(addOn string) declaration.Declaration {
	return c.declarations[addOn]
}

// Has reports whether the catalog has the declaration in this state of a registration.
func (c *Catalog) Has(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	source, ok := c.sources[addOn.Name]
	return ok && source.Equal(declaration.SourceOf(addOn))
}

// Valid reports whether the declaration of the add-on can be used. Otherwise its verdicts do not change.
func (c *Catalog) Valid(addOn string) bool { return !c.declarations[addOn].Invalid }

// Registered reports whether the hub has a ClusterManagementAddOn of the name.
func (c *Catalog) Registered(addOn string) bool {
	_, ok := c.declarations[addOn]
	return ok || c.outline.registered(addOn)
}

// Unregistered reports whether the hub certainly has no ClusterManagementAddOn of the name.
func (c *Catalog) Unregistered(addOn string) bool { return !c.partial && !c.Registered(addOn) }

// AddOns returns the names of all registered add-ons, in ascending order.
func (c *Catalog) AddOns() []string {
	return slices.Sorted(maps.Keys(c.declarations))
}

// Version returns the version in the annotations of the add-on's registration.
func (c *Catalog) Version(addOn string) versions.Annotated { return c.versions[addOn] }

// Dependents returns the add-ons that have an edge on the named add-on, in ascending order.
func (c *Catalog) Dependents(addOn string) []string {
	return c.edges.Dependents(addOn)
}

// Cycles returns the cycles of Required edges with the named add-on, by the dependency that closes the cycle. They are in
// canonical order, and the first member is repeated at the end. The result is nil for an add-on without such cycles. Edges
// with a condition are left out; see Conditional.
func (c *Catalog) Cycles(addOn string) map[string][]string {
	return c.required.Cycles(addOn)
}

// SameRegistration reports whether two states of a registration are equal in a catalog. Their declaration, their version, their use of
// templates and their installation count.
func SameRegistration(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	return declaration.SourceOf(a).Equal(declaration.SourceOf(b)) &&
		versions.In(a.Annotations) == versions.In(b.Annotations) && declaration.UsesTemplates(a) == declaration.UsesTemplates(b) &&
		InstallOf(a).equal(InstallOf(b))
}
