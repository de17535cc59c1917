package catalog

import (
	"cmp"
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// Outline has the parts of all declarations of a hub that are needed to check another declaration. A hub with 500 add-ons
// of 256 edges each, 16 of them with an expression, takes 144 MiB as a catalog, and 29 MiB as an outline. It does not
// change once built.
type Outline struct {
	registrations
	edges *graph.Graph
	// depths has the lengths of the longest chains of Required edges, by add-on.
	depths map[string]int
	// next has the next add-on on each of these chains.
	next         map[string]string
	versionEdges map[string][]DependentEdge
}

// DependentEdge is an edge with the add-on that declares it.
type DependentEdge struct {
	Dependent string
	Edge      *declaration.Edge
}

// Renew returns the outline of all add-ons registered on a hub. It reads only those declarations that the old outline,
// which may be nil, does not have. Without a change, it returns the old outline. It keeps its arguments, which must not be
// changed afterwards.
func (o *Outline) Renew(addOns []addonv1alpha1.ClusterManagementAddOn) *Outline {
	if o == nil {
		o = &Outline{}
	}
	read := func(addOn *addonv1alpha1.ClusterManagementAddOn) declaration.Declaration {
		return declaration.Read(addOn).Outline()
	}
	registered, changed := o.renew(addOns, read)
	if !changed && o.edges != nil {
		return o
	}
	renewed := &Outline{registrations: registered}
	edges, waits := make(map[string][]string, len(addOns)), make(map[string][]string, len(addOns))
	for name, d := range renewed.declarations {
		edges[name], _ = targets(d)
		waits[name] = waitsFor(d)
	}
	renewed.edges, renewed.versionEdges = graph.New(edges), renewed.findVersionEdges()
	renewed.depths, renewed.next = graph.New(waits).Deepest()
	return renewed
}

// waitsFor returns the dependencies of Required edges, with a condition or without.
func waitsFor(d declaration.Declaration) []string {
	var addOns []string
	for i := range d.Edges {
		if d.Edges[i].Waits() {
			addOns = append(addOns, d.Edges[i].AddOn)
		}
	}
	return addOns
}

// Chain returns the longest chain of Required edges from an add-on with this declaration. It begins with the add-on
// itself. Add-ons that require each other count once. The result is nil without such edges. It is also nil if a chain
// leads back to the add-on, because its stored declaration is about to be replaced.
func (o *Outline) Chain(addOn string, d declaration.Declaration) []string {
	required := waitsFor(d)
	if len(required) == 0 || len(o.edges.Between(required, addOn)) > 0 {
		return nil
	}
	deepest := slices.MaxFunc(required, func(a, b string) int { return cmp.Or(cmp.Compare(o.depths[a], o.depths[b]), cmp.Compare(b, a)) })
	chain := []string{addOn}
	for addOn := deepest; addOn != ""; addOn = o.next[addOn] {
		chain = append(chain, addOn)
	}
	return chain
}

// EdgesOnVersions returns the edges on an add-on that only some of its versions satisfy. They are in the order of the
// dependents' names, and then in the declared order.
func (o *Outline) EdgesOnVersions(addOn string) []DependentEdge { return o.versionEdges[addOn] }

// findVersionEdges returns the edges that only some versions of their add-on satisfy.
func (o *Outline) findVersionEdges() map[string][]DependentEdge {
	result := map[string][]DependentEdge{}
	for _, dependent := range slices.Sorted(maps.Keys(o.declarations)) {
		edges := o.declarations[dependent].Edges
		for i := range edges {
			if edges[i].WantsVersion() {
				result[edges[i].AddOn] = append(result[edges[i].AddOn], DependentEdge{dependent, &edges[i]})
			}
		}
	}
	return result
}

// CatalogWith returns a catalog that checks the add-on among the others. It has only the add-ons that can be on a cycle with it.
// Usually there are none.
func (o *Outline) CatalogWith(addOn *addonv1alpha1.ClusterManagementAddOn) *Catalog {
	d := declaration.Read(addOn)
	c := &Catalog{registrations: registrations{declarations: map[string]declaration.Declaration{}}, outline: o}
	dependencies, _ := targets(d)
	for _, name := range o.edges.Between(dependencies, addOn.Name) {
		c.declarations[name] = o.declarations[name]
	}
	c.declarations[addOn.Name] = d
	c.connect()
	return c
}

func (o *Outline) registered(addOn string) bool {
	if o == nil {
		return false
	}
	_, ok := o.declarations[addOn]
	return ok
}
