package catalog

import (
	"cmp"
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// Outline is what all ClusterManagementAddOns of a hub declare, as far as another
// declaration is judged by it. A hub with 500 add-ons of 256 edges each, 16 of them with
// an expression, takes 144 MiB as a catalog, and 29 MiB as an outline. It does
// not change once built.
type Outline struct {
	registrations
	edges *graph.Graph
	// depths are the lengths of the longest chains of Required edges, by add-on.
	depths map[string]int
	// next are the add-ons that come next on these chains.
	next   map[string]string
	wanted map[string][]Wanted
}

// Wanted is an edge with the add-on that declares it.
type Wanted struct {
	Dependent string
	Edge      *declaration.Edge
}

// Renew returns the outline of all add-ons registered on a hub. It reads only those
// declarations that this one, which may be nil, has not, and returns this one if nothing
// has changed. It keeps what it is given: that must not be changed afterwards.
func (o *Outline) Renew(addOns []addonv1alpha1.ClusterManagementAddOn) *Outline {
	if o == nil {
		o = &Outline{}
	}
	read := func(addOn *addonv1alpha1.ClusterManagementAddOn) declaration.Declaration {
		return declaration.Read(addOn).Outline()
	}
	all, changed := o.renew(addOns, read)
	if !changed && o.edges != nil {
		return o
	}
	renewed := &Outline{registrations: all}
	edges, waits := make(map[string][]string, len(addOns)), make(map[string][]string, len(addOns))
	for name, declared := range renewed.declarations {
		edges[name], _ = targets(declared)
		waits[name] = waitsFor(declared)
	}
	renewed.edges, renewed.wanted = graph.New(edges), renewed.findWanted()
	renewed.depths, renewed.next = graph.New(waits).Deepest()
	return renewed
}

// waitsFor are the add-ons that Required edges are on, with a condition or without.
func waitsFor(declared declaration.Declaration) (addOns []string) {
	for i := range declared.Edges {
		if declared.Edges[i].Waits() {
			addOns = append(addOns, declared.Edges[i].AddOn)
		}
	}
	return addOns
}

// Chain is the longest chain of Required edges that begins at an add-on with this declaration: the
// add-ons on it, beginning with itself. Of add-ons that require each other it has one. It is nil where
// there is no such edge, and where a chain leads back to the add-on: what is stored of it is about to be
// replaced.
func (o *Outline) Chain(addOn string, declared declaration.Declaration) []string {
	required := waitsFor(declared)
	if len(required) == 0 || len(o.edges.Between(required, addOn)) > 0 {
		return nil
	}
	deepest := slices.MaxFunc(required, func(a, b string) int { return cmp.Or(cmp.Compare(o.depths[a], o.depths[b]), cmp.Compare(b, a)) })
	chain := []string{addOn}
	for at := deepest; at != ""; at = o.next[at] {
		chain = append(chain, at)
	}
	return chain
}

// WantingVersions are the edges on an add-on that only some of its versions satisfy: by the
// name of the add-on that declares them, ascending, and in the order declared.
func (o *Outline) WantingVersions(of string) []Wanted { return o.wanted[of] }

// findWanted finds the edges that only some versions of their add-on satisfy.
func (o *Outline) findWanted() map[string][]Wanted {
	wanted := map[string][]Wanted{}
	for _, dependent := range slices.Sorted(maps.Keys(o.declarations)) {
		edges := o.declarations[dependent].Edges
		for i := range edges {
			if edges[i].WantsVersion() {
				wanted[edges[i].AddOn] = append(wanted[edges[i].AddOn], Wanted{dependent, &edges[i]})
			}
		}
	}
	return wanted
}

// With returns a catalog by which to judge an add-on among the others. It has only the
// add-ons that could be on a cycle with it: usually none.
func (o *Outline) With(addOn *addonv1alpha1.ClusterManagementAddOn) *Catalog {
	declared := declaration.Read(addOn)
	with := &Catalog{registrations: registrations{declarations: map[string]declaration.Declaration{}}, others: o}
	dependencies, _ := targets(declared)
	for _, name := range o.edges.Between(dependencies, addOn.Name) {
		with.declarations[name] = o.declarations[name]
	}
	with.declarations[addOn.Name] = declared
	with.connect()
	return with
}

func (o *Outline) registered(addOn string) bool {
	if o == nil {
		return false
	}
	_, registered := o.declarations[addOn]
	return registered
}
