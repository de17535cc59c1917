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
	asked     = dependencyv1alpha1.ManagedClusterFactsSpec
	questions = catalog.Requests
	// dependencyAPI is an API as an edge names it.
	dependencyAPI = addonv1alpha1.AddonAPI
)

// maxName is how long the name of an object can be.
const maxName = 253

// askable leaves out what would have the whole object refused: an add-on whose
// name no object can have, which is installed nowhere anyway.
func askable(all questions) questions {
	all.AddOns = slices.DeleteFunc(all.AddOns, func(name string) bool { return utf8.RuneCountInString(name) > maxName })
	return all
}

// undecided reports whether it is not known what one of the add-ons declares:
// its declaration cannot be used, or cannot be read while OCM's CRD is not ours.
func undecided(catalog *evaluation.Evaluator, addOns []types.NamespacedName) bool {
	return slices.ContainsFunc(addOns, func(addOn types.NamespacedName) bool { return !catalog.Known(addOn.Name) })
}

// merged adds to the questions those that an object asks already. So nothing is
// taken back of a whole fleet for the moments that a declaration is hidden.
func merged(all questions, spec asked) questions {
	apis, addOns := slices.Clone(all.APIs), slices.Clone(all.AddOns)
	for _, api := range spec.APIs {
		apis = append(apis, dependencyAPI{Group: api.Group, Version: api.Version, Kind: api.Kind})
	}
	for _, addOn := range spec.AddOns {
		addOns = append(addOns, addOn.Name)
	}
	slices.SortFunc(apis, catalog.CompareAPIs)
	slices.Sort(addOns)
	return questions{APIs: slices.Compact(apis), AddOns: slices.Compact(addOns)}
}

// specOf is how the questions are put to a cluster: as many as an object can
// hold, in their order. The others wait until some of these are no longer asked.
func specOf(all questions) asked {
	var spec asked
	for _, api := range all.APIs[:min(len(all.APIs), dependencyv1alpha1.MaxQuestions)] {
		spec.APIs = append(spec.APIs, apiOf(api))
	}
	for _, addOn := range all.AddOns[:min(len(all.AddOns), dependencyv1alpha1.MaxQuestions)] {
		spec.AddOns = append(spec.AddOns, dependencyv1alpha1.AddOn{Name: addOn})
	}
	return spec
}

func apiOf(api addonv1alpha1.AddonAPI) dependencyv1alpha1.API {
	return dependencyv1alpha1.API{Group: api.Group, Version: api.Version, Kind: api.Kind}
}

// answers are the answers on one cluster, each under its question.
type answers struct {
	apis   map[dependencyv1alpha1.API]*dependencyv1alpha1.APIFact
	addOns map[string]*dependencyv1alpha1.AddOnFact
}

// answersOf finds the answers of a cluster; nil: nobody has answered. They are
// shared with the object.
func answersOf(object *facts) answers {
	var found answers
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

// differ reports whether any of the questions is answered differently.
func differ(before, after answers, on questions) bool {
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
