package dependency

import (
	"cmp"
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Questions is what the agent of one managed cluster is to be asked.
type Questions struct {
	// APIs of which to tell whether the cluster serves them: by group, kind
	// and version, each once.
	APIs []addonv1alpha1.AddonAPI
	// AddOns whose running version to tell: ascending, each once.
	AddOns []string
}

// Empty reports whether nothing is asked.
func (q Questions) Empty() bool { return len(q.APIs) == 0 && len(q.AddOns) == 0 }

// Questions returns what the add-ons that are installed on one managed cluster
// need to know of it. Whether an edge applies there does not count, nor
// whether the add-on depended on is installed: the answer should be there
// before it is needed.
func (c *Catalog) Questions(installed ...string) Questions {
	apis, addOns := map[addonv1alpha1.AddonAPI]bool{}, map[string]bool{}
	for _, addOn := range installed {
		dependencies := c.declarations[addOn].Dependencies
		for i := range dependencies {
			switch dependency := &dependencies[i]; {
			case dependency.API != nil:
				apis[*dependency.API] = true
			case asksVersion(dependency):
				addOns[Target(dependency)] = true
			}
		}
	}
	return Questions{
		APIs:   slices.SortedFunc(maps.Keys(apis), CompareAPIs),
		AddOns: slices.Sorted(maps.Keys(addOns)),
	}
}

// Target is the add-on that an edge is on; empty for an edge on an API.
func Target(dependency *addonv1alpha1.AddonDependency) string {
	switch {
	case dependency.API != nil:
		return ""
	case dependency.AddOn != "":
		return dependency.AddOn
	default:
		return dependency.Name
	}
}

// asksVersion reports whether it matters which version of the add-on runs.
func asksVersion(dependency *addonv1alpha1.AddonDependency) bool {
	return dependency.API == nil && dependency.Version != "" && dependency.Version != anyVersion
}

// CompareAPIs orders APIs as Questions does.
func CompareAPIs(a, b addonv1alpha1.AddonAPI) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
}
