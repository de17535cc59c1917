package catalog

import (
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
	edges := make(map[string][]string, len(addOns))
	for name, declared := range renewed.declarations {
		edges[name], _ = targets(declared)
	}
	renewed.edges = graph.New(edges)
	return renewed
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
