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

// Installed are the add-ons that may need to know something of one managed cluster.
type Installed struct {
	// Own are installed on the cluster, and their agents run there. Hosted are installed on the
	// cluster, and other clusters run their agents.
	Own, Hosted []string
	// Hosting are installed on other clusters, and this one runs their agents.
	Hosting []string
}

// Requests returns what add-ons need to know of the managed cluster that they are installed
// on, and that runs their agents; see RequestsOf.
func (c *Catalog) Requests(installed ...string) Requests {
	return c.RequestsOf(Installed{Own: installed})
}

// RequestsOf returns what add-ons need to know of one managed cluster. Whether an edge applies there does not count, nor which
// AddOnTemplate runs, nor whether the add-on depended on is installed: the report
// should be there before it is needed.
func (c *Catalog) RequestsOf(installed Installed) Requests {
	r := requesting{apis: map[addonv1alpha1.AddonAPI][]string{}, addOns: map[string]bool{}}
	const here, onHost = addonv1alpha1.APIServerManagedCluster, addonv1alpha1.APIServerHostingCluster
	for _, addOn := range installed.Own {
		r.add(c.variants(addOn), addOn, here, onHost)
	}
	for _, addOn := range installed.Hosted {
		r.add(c.variants(addOn), addOn, here)
	}
	for _, addOn := range installed.Hosting {
		r.addAPIs(c.variants(addOn), onHost)
	}
	return Requests{APIs: UniteAPIs(r.apis), AddOns: slices.Sorted(maps.Keys(r.addOns))}
}

// Compared reports whether an edge of any registered add-on compares the version of the add-on. Its version is requested
// wherever it is installed: an installation or a change is reviewed against the report at once.
func (c *Catalog) Compared(addOn string) bool { return c.compared[addOn] }

func findCompared(declared map[string][]variant) map[string]bool {
	compared := map[string]bool{}
	for _, variants := range declared {
		for _, v := range variants {
			for i := range v.declared.Edges {
				for end := range v.declared.Edges[i].Ends() {
					if end.MayCompareVersion() {
						compared[end.AddOn] = true
					}
				}
			}
		}
	}
	return compared
}

// HubAPIs returns the APIs that edges require of the hub, as Requests has them: of the named add-ons, without names of all.
func (c *Catalog) HubAPIs(addOns ...string) []addonv1alpha1.DependencyAPI {
	if len(addOns) == 0 {
		addOns = c.AddOns()
	}
	r := requesting{apis: map[addonv1alpha1.AddonAPI][]string{}}
	for _, addOn := range addOns {
		r.addAPIs(c.variants(addOn), addonv1alpha1.APIServerHub)
	}
	return UniteAPIs(r.apis)
}

// requesting is what is to be requested, in no order.
type requesting struct {
	apis   map[addonv1alpha1.AddonAPI][]string
	addOns map[string]bool
}

// add adds what the edges of an add-on need to know of the cluster that it is installed on.
func (r requesting) add(variants []variant, addOn string, servedBy ...addonv1alpha1.APIServer) {
	r.addAPIs(variants, servedBy...)
	for _, v := range variants {
		for i := range v.declared.Edges {
			edge := &v.declared.Edges[i]
			for end := range edge.Ends() {
				if end.MayCompareVersion() {
					r.addOns[end.AddOn] = true
				}
			}
			if edge.When != nil && edge.When.Inputs().Any(input.Version) {
				r.addOns[addOn] = true
			}
		}
	}
}

// addAPIs adds the APIs that must be served by one of the given.
func (r requesting) addAPIs(variants []variant, servedBy ...addonv1alpha1.APIServer) {
	for _, v := range variants {
		for i := range v.declared.Edges {
			for end := range v.declared.Edges[i].Ends() {
				if api := end.Dependency.API; slices.Contains(servedBy, declaration.ServedBy(&end.Dependency)) {
					r.apis[api.AddonAPI] = append(r.apis[api.AddonAPI], api.Fields...)
				}
			}
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
