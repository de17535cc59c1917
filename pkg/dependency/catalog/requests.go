package catalog

import (
	"cmp"
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// Requests are what the agent of one managed cluster is requested to report.
type Requests struct {
	// APIs are those that the cluster may serve, as it reports: by
	// group, kind and version, each once. The fields of each are ascending.
	APIs []addonv1alpha1.DependencyAPI
	// AddOns are those whose running version it reports: ascending, each once.
	AddOns []string
}

// Empty reports whether nothing is requested.
func (r Requests) Empty() bool { return len(r.APIs) == 0 && len(r.AddOns) == 0 }

// Requests returns what the add-ons that are installed on one managed cluster
// need to know of it. Whether an edge applies there does not count, nor which
// AddOnTemplate runs, nor whether the add-on depended on is installed: the report
// should be there before it is needed.
func (c *Catalog) Requests(installed ...string) Requests {
	apis, addOns := map[addonv1alpha1.AddonAPI][]string{}, map[string]bool{}
	for _, addOn := range installed {
		for _, v := range c.variants(addOn) {
			request(v.declared, addOn, apis, addOns)
		}
	}
	return Requests{APIs: UniteAPIs(apis), AddOns: slices.Sorted(maps.Keys(addOns))}
}

// request adds what the edges of an add-on need to know.
func request(declared declaration.Declaration, addOn string, apis map[addonv1alpha1.AddonAPI][]string, addOns map[string]bool) {
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		for end := range edge.Ends() {
			if api := end.Dependency.API; api != nil {
				apis[api.AddonAPI] = append(apis[api.AddonAPI], api.Fields...)
			} else if end.MayCompareVersion() {
				addOns[end.AddOn] = true
			}
		}
		if edge.When != nil && edge.When.Inputs().Any(input.Version) {
			addOns[addOn] = true
		}
	}
}

// UniteAPIs returns the APIs as Requests has them, each with the fields that are requested of
// it, in any order.
func UniteAPIs(fields map[addonv1alpha1.AddonAPI][]string) []addonv1alpha1.DependencyAPI {
	var apis []addonv1alpha1.DependencyAPI
	for _, api := range slices.SortedFunc(maps.Keys(fields), CompareAPIs) {
		sorted := slices.Clone(fields[api])
		slices.Sort(sorted)
		apis = append(apis, addonv1alpha1.DependencyAPI{AddonAPI: api, Fields: slices.Compact(sorted)})
	}
	return apis
}

// CompareAPIs orders APIs as Requests does.
func CompareAPIs(a, b addonv1alpha1.AddonAPI) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
}
