package catalog

import (
	"cmp"
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
)

// Requests are the facts that the agent of one managed cluster is requested to report.
type Requests struct {
	// APIs has the APIs that the cluster may serve, sorted by group, kind and version, without duplicates. Their fields are
	// in ascending order.
	APIs []addonv1alpha1.DependencyAPI
	// AddOns has the add-ons whose running version is requested, in ascending order and without duplicates.
	AddOns []string
}

// Empty reports whether nothing is requested.
func (r Requests) Empty() bool { return len(r.APIs) == 0 && len(r.AddOns) == 0 }

// Installed has the add-ons that may need facts of one managed cluster.
type Installed struct {
	// Own add-ons are installed on the cluster, and their agents run there. Hosted add-ons are installed on the cluster,
	// and other clusters run their agents.
	Own, Hosted []string
	// Hosting add-ons are installed on other clusters, and this cluster runs their agents.
	Hosting []string
}

// Requests returns the requests for a managed cluster on which these add-ons are installed and run their agents; see
// RequestsOf.
func (c *Catalog) Requests(installed ...string) Requests {
	return c.RequestsOf(Installed{Own: installed})
}

// RequestsOf returns the facts of one managed cluster that add-ons need. It includes edges that do not apply there,
// templates that do not run there, and dependencies that are not installed. So the report is there before it is needed.
func (c *Catalog) RequestsOf(installed Installed) Requests {
	r := requestSet{apis: map[addonv1alpha1.AddonAPI][]string{}, addOns: map[string]bool{}}
	const managed, hosting = addonv1alpha1.APIServerManagedCluster, addonv1alpha1.APIServerHostingCluster
	for _, addOn := range installed.Own {
		r.add(c.variants(addOn), addOn, managed, hosting)
	}
	for _, addOn := range installed.Hosted {
		r.add(c.variants(addOn), addOn, managed)
	}
	for _, addOn := range installed.Hosting {
		r.addAPIs(c.variants(addOn), hosting)
	}
	return Requests{APIs: UniteAPIs(r.apis), AddOns: slices.Sorted(maps.Keys(r.addOns))}
}

// Compared reports whether an edge of any registered add-on compares the version of the add-on. Its version is requested
// wherever it is installed, because an installation or a change is reviewed against the report at once.
func (c *Catalog) Compared(addOn string) bool { return c.comparedVersions[addOn] }

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

// HubAPIs returns the APIs that edges of the named add-ons require of the hub, in the form of Requests. Without names, it
// includes all add-ons.
func (c *Catalog) HubAPIs(addOns ...string) []addonv1alpha1.DependencyAPI {
	if len(addOns) == 0 {
		addOns = c.AddOns()
	}
	r := requestSet{apis: map[addonv1alpha1.AddonAPI][]string{}}
	for _, addOn := range addOns {
		r.addAPIs(c.variants(addOn), addonv1alpha1.APIServerHub)
	}
	return UniteAPIs(r.apis)
}

// requestSet collects requests in any order.
type requestSet struct {
	apis   map[addonv1alpha1.AddonAPI][]string
	addOns map[string]bool
}

// add adds the requests that the edges of an add-on need on the cluster where it is installed.
func (r requestSet) add(variants []variant, addOn string, servedBy ...addonv1alpha1.APIServer) {
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

// addAPIs adds the APIs that one of these API servers must serve.
func (r requestSet) addAPIs(variants []variant, servedBy ...addonv1alpha1.APIServer) {
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

// UniteAPIs returns APIs with their requested fields in the form of Requests. The fields may be in any order.
func UniteAPIs(fields map[addonv1alpha1.AddonAPI][]string) []addonv1alpha1.DependencyAPI {
	var apis []addonv1alpha1.DependencyAPI
	for _, api := range slices.SortedFunc(maps.Keys(fields), CompareAPIs) {
		sorted := slices.Clone(fields[api])
		slices.Sort(sorted)
		apis = append(apis, addonv1alpha1.DependencyAPI{AddonAPI: api, Fields: slices.Compact(sorted)})
	}
	return apis
}

// CompareAPIs compares APIs in the order of Requests.
func CompareAPIs(a, b addonv1alpha1.AddonAPI) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
}
