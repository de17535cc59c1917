package dependency

import (
	"cmp"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

type providedKind struct{ group, kind string }

type provider struct{ addOn, version string }

func findProviders(declarations map[string]Declaration) map[providedKind][]provider {
	providers := map[providedKind][]provider{}
	for addOn, declaration := range declarations {
		for _, api := range declaration.Provides {
			kind := providedKind{api.Group, api.Kind}
			providers[kind] = append(providers[kind], provider{addOn, api.Version})
		}
	}
	for _, list := range providers {
		slices.SortFunc(list, func(a, b provider) int { return cmp.Compare(a.addOn, b.addOn) })
	}
	return providers
}

// Providers returns the names, ascending, of the registered add-ons that say
// that they provide the API. Who provides a kind in an unnamed version may
// provide each, and an edge on any version takes each.
func (c *Catalog) Providers(api addonv1alpha1.AddonAPI) []string {
	var names []string
	for _, p := range c.providers[providedKind{api.Group, api.Kind}] {
		if api.Version == "" || p.version == "" || p.version == api.Version {
			names = append(names, p.addOn)
		}
	}
	return slices.Compact(names)
}

// Uses tells what the verdicts of the named add-on depend on, beyond the
// add-ons that its edges are on.
func (c *Catalog) Uses(addOn string) Uses {
	uses := c.declarations[addOn].uses
	if k := c.knots[addOn]; k != nil {
		uses |= k.uses
	}
	return uses
}

// AnyUses reports whether the verdicts of any add-on depend on one of the given.
func (c *Catalog) AnyUses(of Uses) bool { return c.uses.Any(of) }

// Users returns the names, ascending, of the registered add-ons whose
// verdicts depend on one of the given.
func (c *Catalog) Users(of Uses) []string {
	var users []string
	for _, addOn := range c.AddOns() {
		if c.Uses(addOn).Any(of) {
			users = append(users, addOn)
		}
	}
	return users
}

// Peers returns the add-ons, ascending, whose verdicts on a cluster can depend
// on labels, annotations or configuration of the named add-on there: itself,
// and those that a condition of its edges can tie into a cycle with it.
func (c *Catalog) Peers(addOn string) []string {
	const own = UsesAddOn | UsesConfig
	if k := c.knots[addOn]; k != nil && k.uses.Any(own) {
		return k.members
	}
	if c.declarations[addOn].uses.Any(own) {
		return []string{addOn}
	}
	return nil
}
