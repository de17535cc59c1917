package catalog

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Changed returns the add-ons, ascending, whose evaluation can differ between
// the two catalogs for equal add-ons on a cluster: what they declare or the
// cycles they are on have changed, or the versions and providers of what they
// depend on, or it became known, or unknown, what they declare.
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
	return before.Registered(addOn) && c.Known(addOn) == before.Known(addOn) &&
		equality.Semantic.DeepEqual(a.Dependencies, b.Dependencies) &&
		equality.Semantic.DeepEqual(a.Requirements, b.Requirements) &&
		maps.EqualFunc(c.Cycles(addOn), before.Cycles(addOn), slices.Equal) &&
		c.conditional[addOn].text() == before.conditional[addOn].text() &&
		!slices.ContainsFunc(a.Dependencies, func(d addonv1alpha1.AddonDependency) bool { return c.differs(before, &d) })
}

// differs reports whether the provider or the version of what an edge is on has
// changed.
func (c *Catalog) differs(before *Catalog, dependency *addonv1alpha1.AddonDependency) bool {
	if dependency.API != nil {
		return !slices.Equal(c.Providers(*dependency.API), before.Providers(*dependency.API))
	}
	target := declaration.Target(dependency)
	return declaration.ComparesVersion(dependency) && c.versions[target] != before.versions[target]
}
