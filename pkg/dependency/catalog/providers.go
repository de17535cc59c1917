package catalog

import (
	"cmp"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

type providedKind struct{ group, kind string }

type provider struct{ addOn, version string }

func findProviders(declarations map[string][]variant) map[providedKind][]provider {
	providers := map[providedKind][]provider{}
	for addOn, variants := range declarations {
		for _, v := range variants {
			for _, api := range v.declared.Provides {
				kind := providedKind{api.Group, api.Kind}
				providers[kind] = append(providers[kind], provider{addOn, api.Version})
			}
		}
	}
	for _, list := range providers {
		slices.SortFunc(list, func(a, b provider) int { return cmp.Compare(a.addOn, b.addOn) })
	}
	return providers
}

// Satisfying returns the add-ons that can satisfy an edge on one add-on or one API.
func (c *Catalog) Satisfying(dependency *addonv1alpha1.AddonDependency) []string {
	if dependency.API != nil {
		return c.Providers(dependency.API.AddonAPI)
	}
	return []string{declaration.Target(dependency)}
}

// Providers returns the registered add-ons that declare to provide the API, in ascending order. An add-on without a
// version may provide all versions, and an API without a version accepts all versions.
func (c *Catalog) Providers(api addonv1alpha1.AddonAPI) []string {
	var names []string
	for _, p := range c.providers[providedKind{api.Group, api.Kind}] {
		if api.Version == "" || p.version == "" || p.version == api.Version {
			names = append(names, p.addOn)
		}
	}
	return slices.Compact(names)
}

// Provided returns the kinds that the add-ons declare to provide, sorted and without duplicates. It ignores unusable
// declarations, whose names may be invalid, and versions, because an object is the same in all of them.
func (c *Catalog) Provided(addOns ...string) []addonv1alpha1.AddonAPI {
	var kinds []addonv1alpha1.AddonAPI
	for _, addOn := range addOns {
		for _, v := range c.variants(addOn) {
			if v.declared.Invalid {
				continue
			}
			for _, api := range v.declared.Provides {
				kinds = append(kinds, addonv1alpha1.AddonAPI{Group: api.Group, Kind: api.Kind})
			}
		}
	}
	slices.SortFunc(kinds, CompareAPIs)
	return slices.Compact(kinds)
}
