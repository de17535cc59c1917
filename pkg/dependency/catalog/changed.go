package catalog

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Changed returns the add-ons whose evaluation can differ between the two catalogs, in ascending order. These differences
// count: their declarations, and whether these are known; their cycles; the versions and providers of their dependencies;
// and the way in which Interlock acts on them, such as bundles and the AddOnTemplates that wait.
func (c *Catalog) Changed(old *Catalog) []string {
	var changed []string
	for addOn := range c.declarations {
		if !c.equal(old, addOn) {
			changed = append(changed, addOn)
		}
	}
	for addOn := range old.declarations {
		if !c.Registered(addOn) {
			changed = append(changed, addOn)
		}
	}
	slices.Sort(changed)
	return changed
}

// equal compares the meaning of declarations instead of their text. An empty list of identifiers equals a missing list.
func (c *Catalog) equal(old *Catalog, addOn string) bool {
	return old.Registered(addOn) && c.actsAlike(old, addOn) && c.unreadFor(addOn) == old.unreadFor(addOn) &&
		c.equalDeclaration(old, c.declarations[addOn], old.declarations[addOn]) &&
		maps.EqualFunc(c.Cycles(addOn), old.Cycles(addOn), slices.Equal) &&
		c.conditional[addOn].text() == old.conditional[addOn].text() && c.circular[addOn].text() == old.circular[addOn].text()
}

func (c *Catalog) actsAlike(old *Catalog, addOn string) bool {
	current, previous := c.installs[addOn], old.installs[addOn]
	return current.Bundle == previous.Bundle &&
		(c.declarations[addOn].Ordering != addonv1alpha1.OrderingInstallAndUpgrade || slices.Equal(current.Templates, previous.Templates))
}

// equalDeclaration compares two declarations, with the versions and providers of their dependencies.
func (c *Catalog) equalDeclaration(old *Catalog, current, previous declaration.Declaration) bool {
	return current.Invalid == previous.Invalid && current.Ordering == previous.Ordering && declaration.SameOverrides(current, previous) &&
		equality.Semantic.DeepEqual(current.Dependencies, previous.Dependencies) &&
		equality.Semantic.DeepEqual(current.Requirements, previous.Requirements) &&
		!slices.ContainsFunc(current.Edges, func(e declaration.Edge) bool { return c.differs(old, &e) })
}

// differs reports whether the provider or the version of the edge's dependency differs.
func (c *Catalog) differs(old *Catalog, edge *declaration.Edge) bool {
	for end := range edge.Ends() {
		switch api := end.Dependency.API; declaration.ServedBy(&end.Dependency) {
		case "":
			if end.MayCompareVersion() && c.versions[end.AddOn] != old.versions[end.AddOn] {
				return true
			}
		case addonv1alpha1.APIServerHub: // no add-on provides it
		default:
			if !slices.Equal(c.Providers(api.AddonAPI), old.Providers(api.AddonAPI)) {
				return true
			}
		}
	}
	return false
}
