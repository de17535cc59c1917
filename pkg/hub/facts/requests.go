package facts

import (
	"cmp"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

type (
	facts     = dependencyv1alpha1.ManagedClusterFacts
	requested = dependencyv1alpha1.ManagedClusterFactsSpec
	needs     = catalog.Requests
	// dependencyAPI is an API that an edge requires.
	dependencyAPI = addonv1alpha1.DependencyAPI
)

// anyUnknown reports whether one of the add-ons has an invalid declaration, or declarations in AddOnTemplates that are not read yet.
func anyUnknown(evaluator *evaluation.Evaluator, addOns []types.NamespacedName) bool {
	return slices.ContainsFunc(addOns, func(addOn types.NamespacedName) bool {
		return !evaluator.AllValid(addOn.Name) || evaluator.TemplatesUnread(addOn.Name)
	})
}

// desiredSpec returns the facts that verdicts need from a cluster, and the spec of the request. The spec also has the versions that
// verdicts may need soon, and the kinds of objects to count. While a declaration is unknown, the spec keeps all current requests.
func desiredSpec(evaluator *evaluation.Evaluator, addOns clusterAddOns, object *facts) (needs, requested) {
	needed, kept := fleet.Requestable(evaluator.RequestsOf(addOns.Installed)), []dependencyv1alpha1.ObjectKind(nil)
	if object != nil && anyUnknown(evaluator, addOns.keys()) {
		needed, kept = merge(needed, object.Spec), object.Spec.Objects
	}
	spec := specOf(needed)
	spec.AddOns = withAnticipated(spec.AddOns, anticipatedVersions(evaluator.Catalog, addOns, object))
	spec.Objects = countedKinds(evaluator.Catalog, addOns.Installed, kept)
	return needed, spec
}

// merge adds the current requests of an object to the needed facts. So a declaration that is
// unknown for a moment does not remove requests from the whole fleet.
func merge(needed needs, spec requested) needs {
	fields, addOns := map[addonv1alpha1.AddonAPI][]string{}, slices.Clone(needed.AddOns)
	for _, api := range needed.APIs {
		fields[api.AddonAPI] = api.Fields
	}
	for _, api := range spec.APIs {
		key := addonv1alpha1.AddonAPI(api.API)
		fields[key] = slices.Concat(fields[key], api.Fields)
	}
	for _, addOn := range spec.AddOns {
		addOns = append(addOns, addOn.Name)
	}
	slices.Sort(addOns)
	return needs{APIs: catalog.UniteAPIs(fields), AddOns: slices.Compact(addOns)}
}

// specOf returns the spec that requests the needed facts, in their order. It omits requests
// beyond the limits of an object, until other requests end.
func specOf(needed needs) requested {
	var spec requested
	room := dependencyv1alpha1.MaxFields
	for _, api := range fleet.APIRequests(needed.APIs[:min(len(needed.APIs), dependencyv1alpha1.MaxRequests)]) {
		api.Fields = api.Fields[:min(len(api.Fields), room)]
		room -= len(api.Fields)
		spec.APIs = append(spec.APIs, api)
	}
	for _, addOn := range needed.AddOns[:min(len(needed.AddOns), dependencyv1alpha1.MaxRequests)] {
		spec.AddOns = append(spec.AddOns, addOnOf(addOn))
	}
	return spec
}

// anticipatedVersions returns the add-ons on a cluster whose version may be compared by an add-on that is not installed yet.
// The installation of such an add-on is reviewed before it exists. Without an agent that can report, there are none.
func anticipatedVersions(c *catalog.Catalog, addOns clusterAddOns, object *facts) []string {
	if !hasAgent(addOns, object) {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(addOns.Own, addOns.Hosted), func(addOn string) bool { return !c.Compared(addOn) })
}

// hasAgent reports whether an agent can report facts of a cluster. It is either installed there as an add-on, or it is not an
// add-on and has reported before.
func hasAgent(addOns clusterAddOns, object *facts) bool {
	agent := names.AgentAddOn
	if fleet.HasReports(object) {
		agent = object.Status.AgentAddOn
	}
	return agent == "" || slices.ContainsFunc(addOns.local, func(addOn types.NamespacedName) bool { return addOn.Name == agent })
}

// withAnticipated adds add-ons to a spec, up to the limit of an object.
func withAnticipated(requested []dependencyv1alpha1.AddOn, further []string) []dependencyv1alpha1.AddOn {
	slices.Sort(further)
	for _, addOn := range further {
		if len(requested) < dependencyv1alpha1.MaxRequests && !slices.Contains(requested, addOnOf(addOn)) {
			requested = append(requested, addOnOf(addOn))
		}
	}
	slices.SortFunc(requested, func(a, b dependencyv1alpha1.AddOn) int { return cmp.Compare(a.Name, b.Name) })
	return requested
}

// countedKinds returns the kinds of objects to count, up to the limit of an object: the kinds that the add-ons on a cluster
// provide there, and the kinds to keep.
func countedKinds(c *catalog.Catalog, addOns catalog.Installed, keptKinds []dependencyv1alpha1.ObjectKind) []dependencyv1alpha1.ObjectKind {
	kinds := slices.Clone(keptKinds)
	for _, api := range c.Provided(slices.Concat(addOns.Own, addOns.Hosted)...) {
		kinds = append(kinds, dependencyv1alpha1.ObjectKind{Group: api.Group, Kind: api.Kind})
	}
	slices.SortFunc(kinds, func(a, b dependencyv1alpha1.ObjectKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	kinds = slices.Compact(kinds)
	return kinds[:min(len(kinds), dependencyv1alpha1.MaxRequests)]
}

// requestsAny reports whether an add-on leads to any request.
func requestsAny(c *catalog.Catalog, addOn string) bool {
	return !c.Requests(addOn).Empty() || c.Compared(addOn) || len(c.Provided(addOn)) > 0
}

func addOnOf(name string) dependencyv1alpha1.AddOn { return dependencyv1alpha1.AddOn{Name: name} }

// contains reports whether the map has the key.
func contains[K comparable, V any](values map[K]V, key K) bool {
	_, ok := values[key]
	return ok
}

// differ reports whether a needed fact differs.
func differ(previous, current evaluation.Facts, needed needs) bool {
	apis := make([]addonv1alpha1.AddonAPI, len(needed.APIs))
	for i := range needed.APIs {
		apis[i] = needed.APIs[i].AddonAPI
	}
	return differAt(previous.APIs, current.APIs, apis) || differAt(previous.Versions, current.Versions, needed.AddOns)
}

func differAt[K comparable, V any](previous, current map[K]V, keys []K) bool {
	return slices.ContainsFunc(keys, func(key K) bool {
		return contains(previous, key) != contains(current, key) || !apiequality.Semantic.DeepEqual(previous[key], current[key])
	})
}
