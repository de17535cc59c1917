package facts

import (
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

type (
	facts     = dependencyv1alpha1.ManagedClusterFacts
	requested = dependencyv1alpha1.ManagedClusterFactsSpec
	needs     = catalog.Requests
	// dependencyAPI is an API as an edge names it.
	dependencyAPI = addonv1alpha1.AddonAPI
)

// maxName is how long the name of an object can be.
const maxName = 253

// requestable leaves out what the API server would reject with the whole object:
// add-ons whose name no object can have. They are installed nowhere.
func requestable(all needs) needs {
	all.AddOns = slices.DeleteFunc(all.AddOns, func(name string) bool { return utf8.RuneCountInString(name) > maxName })
	return all
}

// undecided reports whether the declaration of one of the add-ons is not known:
// it is invalid, or cannot be read while the CRD lacks Interlock's fields.
func undecided(declared *evaluation.Evaluator, addOns []types.NamespacedName) bool {
	return slices.ContainsFunc(addOns, func(addOn types.NamespacedName) bool { return !declared.Known(addOn.Name) })
}

// merged adds what an object requests already. So no request is removed from a
// whole fleet while a declaration is hidden for a moment.
func merged(all needs, spec requested) needs {
	apis, addOns := slices.Clone(all.APIs), slices.Clone(all.AddOns)
	for _, api := range spec.APIs {
		apis = append(apis, dependencyAPI{Group: api.Group, Version: api.Version, Kind: api.Kind})
	}
	for _, addOn := range spec.AddOns {
		addOns = append(addOns, addOn.Name)
	}
	slices.SortFunc(apis, catalog.CompareAPIs)
	slices.Sort(addOns)
	return needs{APIs: slices.Compact(apis), AddOns: slices.Compact(addOns)}
}

// specOf returns the spec that requests what is needed: as much as an object can
// hold, in its order. The rest waits until something is no longer needed.
func specOf(all needs) requested {
	var spec requested
	for _, api := range all.APIs[:min(len(all.APIs), dependencyv1alpha1.MaxRequests)] {
		spec.APIs = append(spec.APIs, apiOf(api))
	}
	for _, addOn := range all.AddOns[:min(len(all.AddOns), dependencyv1alpha1.MaxRequests)] {
		spec.AddOns = append(spec.AddOns, dependencyv1alpha1.AddOn{Name: addOn})
	}
	return spec
}

func apiOf(api addonv1alpha1.AddonAPI) dependencyv1alpha1.API {
	return dependencyv1alpha1.API{Group: api.Group, Version: api.Version, Kind: api.Kind}
}

// reported are the facts that an agent has reported, by what they are of.
type reported struct {
	apis   map[dependencyv1alpha1.API]*dependencyv1alpha1.APIFact
	addOns map[string]*dependencyv1alpha1.AddOnFact
}

// reportedIn returns the facts of an object, which may be nil. They are shared with
// the object.
func reportedIn(object *facts) reported {
	var found reported
	if object == nil {
		return found
	}
	found.apis = make(map[dependencyv1alpha1.API]*dependencyv1alpha1.APIFact, len(object.Status.APIs))
	for i := range object.Status.APIs {
		fact := &object.Status.APIs[i]
		found.apis[fact.API] = fact
	}
	found.addOns = make(map[string]*dependencyv1alpha1.AddOnFact, len(object.Status.AddOns))
	for i := range object.Status.AddOns {
		fact := &object.Status.AddOns[i]
		found.addOns[fact.Name] = fact
	}
	return found
}

// differ reports whether any of the needed facts differs.
func differ(before, after reported, on needs) bool {
	for _, api := range on.APIs {
		if !same(before.apis[apiOf(api)], after.apis[apiOf(api)], sameAPI) {
			return true
		}
	}
	for _, addOn := range on.AddOns {
		if !same(before.addOns[addOn], after.addOns[addOn], sameAddOn) {
			return true
		}
	}
	return false
}

func same[T any](a, b *T, equal func(a, b *T) bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equal(a, b)
}

func sameAPI(a, b *dependencyv1alpha1.APIFact) bool {
	return a.Served == b.Served && a.Message == b.Message && slices.Equal(a.Versions, b.Versions)
}

func sameAddOn(a, b *dependencyv1alpha1.AddOnFact) bool {
	return a.Version == b.Version && a.FormerAnnotation == b.FormerAnnotation && a.Message == b.Message
}
