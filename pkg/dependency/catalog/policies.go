package catalog

import (
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
)

// Under returns the catalog with what policies override of the declarations, and without what
// others did before.
func (c *Catalog) Under(policies policy.Set) *Catalog {
	under := *c
	under.declarations = make(map[string]declaration.Declaration, len(c.declarations))
	changed := false
	overridden := func(addOn string, declared declaration.Declaration) declaration.Declaration {
		after := declared.Overridden(func(name string) []*policy.Override { return policies.On(addOn, name) })
		changed = changed || !declaration.SameOverrides(declared, after)
		return after
	}
	for addOn, declared := range c.declarations {
		under.declarations[addOn] = overridden(addOn, declared)
	}
	under.templates = maps.Clone(c.templates)
	for name, template := range c.templates {
		template.declaration = overridden(template.addOn, template.declaration)
		under.templates[name] = template
	}
	if !changed {
		return c
	}
	under.connect()
	return &under
}

// Declarations returns all that the add-on can declare on a managed cluster: by its
// registration, and by its AddOnTemplates.
func (c *Catalog) Declarations(addOn string) []declaration.Declaration {
	var all []declaration.Declaration
	for _, v := range c.variants(addOn) {
		all = append(all, v.declared)
	}
	return all
}

// Overridden returns the add-ons, ascending, of which policies override something.
func (c *Catalog) Overridden() []string {
	var addOns []string
	for addOn := range c.declarations {
		if c.HasOverrides(addOn) {
			addOns = append(addOns, addOn)
		}
	}
	slices.Sort(addOns)
	return addOns
}

// HasOverrides reports whether policies override something of the add-on.
func (c *Catalog) HasOverrides(addOn string) bool {
	return slices.ContainsFunc(c.variants(addOn), func(v variant) bool { return v.declared.HasOverrides() })
}
