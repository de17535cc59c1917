package fleet

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// maxName is how long the name of an object can be.
const maxName = 253

// Requestable leaves out what the API server would reject with the whole object:
// add-ons whose name no object can have. They are installed nowhere.
func Requestable(all catalog.Requests) catalog.Requests {
	all.AddOns = slices.DeleteFunc(all.AddOns, func(name string) bool { return utf8.RuneCountInString(name) > maxName })
	return all
}

// APIRequests returns the requests of APIs, as agents get them.
func APIRequests(apis []addonv1alpha1.DependencyAPI) []dependencyv1alpha1.APIRequest {
	requests := make([]dependencyv1alpha1.APIRequest, len(apis))
	for i := range apis {
		requests[i] = dependencyv1alpha1.APIRequest{API: dependencyv1alpha1.API(apis[i].AddonAPI), Fields: apis[i].Fields}
	}
	return requests
}

// Unrequested returns what is needed and a spec does not request. Of an API it has the
// fields that are not requested.
func Unrequested(spec dependencyv1alpha1.ManagedClusterFactsSpec, needed catalog.Requests) catalog.Requests {
	left := catalog.Requests{AddOns: slices.DeleteFunc(slices.Clone(needed.AddOns), func(name string) bool {
		return slices.Contains(spec.AddOns, dependencyv1alpha1.AddOn{Name: name})
	})}
	for _, api := range needed.APIs {
		fields, requested := requestedFields(spec, api.AddonAPI)
		api.Fields = slices.DeleteFunc(slices.Clone(api.Fields), func(path string) bool { return slices.Contains(fields, path) })
		if !requested || len(api.Fields) > 0 {
			left.APIs = append(left.APIs, api)
		}
	}
	return left
}

// requestedFields returns which fields of an API a spec requests, and whether it requests the
// API at all.
func requestedFields(spec dependencyv1alpha1.ManagedClusterFactsSpec, api addonv1alpha1.AddonAPI) ([]string, bool) {
	for i := range spec.APIs {
		if spec.APIs[i].API == dependencyv1alpha1.API(api) {
			return spec.APIs[i].Fields, true
		}
	}
	return nil, false
}

// complete reports whether all that is needed is known.
func complete(found evaluation.Facts, needed catalog.Requests) bool {
	return !slices.ContainsFunc(needed.APIs, func(api addonv1alpha1.DependencyAPI) bool {
		fact, known := found.APIs[api.AddonAPI]
		return !known || fact.Awaited(api.Fields)
	}) && !slices.ContainsFunc(needed.AddOns, func(name string) bool {
		_, known := found.Versions[name]
		return !known
	})
}

// setUnknown sets facts that are unknown, with the reason.
func setUnknown(found evaluation.Facts, of catalog.Requests, why string) {
	for _, api := range of.APIs {
		found.APIs[api.AddonAPI] = evaluation.APIFact{Served: metav1.ConditionUnknown, Message: why}
	}
	for _, addOn := range of.AddOns {
		found.Versions[addOn] = evaluation.VersionFact{Message: why}
	}
}

// setLeftOut sets the facts that an object has no room to request.
func setLeftOut(found evaluation.Facts, spec dependencyv1alpha1.ManagedClusterFactsSpec, needed catalog.Requests) {
	const why = "Interlock requests at most %d %s of a managed cluster"
	leftOut := Unrequested(spec, needed)
	for _, api := range leftOut.APIs {
		_, requested := requestedFields(spec, api.AddonAPI)
		switch {
		case !requested && len(spec.APIs) == dependencyv1alpha1.MaxRequests:
			setUnknown(found, catalog.Requests{APIs: []addonv1alpha1.DependencyAPI{api}}, fmt.Sprintf(why, dependencyv1alpha1.MaxRequests, "APIs"))
		case requested && countFields(spec) == dependencyv1alpha1.MaxFields:
			setFieldsUnknown(found, api, fmt.Sprintf(why, dependencyv1alpha1.MaxFields, "fields of APIs"))
		}
	}
	if len(spec.AddOns) == dependencyv1alpha1.MaxRequests {
		setUnknown(found, catalog.Requests{AddOns: leftOut.AddOns}, fmt.Sprintf(why, dependencyv1alpha1.MaxRequests, "add-ons"))
	}
}

// setFieldsUnknown sets the fields of an API that are not reported, with the reason.
func setFieldsUnknown(found evaluation.Facts, api addonv1alpha1.DependencyAPI, why string) {
	fact, reported := found.APIs[api.AddonAPI]
	if !reported || !fact.Awaited(api.Fields) {
		return
	}
	fact.Fields = maps.Clone(fact.Fields)
	if fact.Fields == nil {
		fact.Fields = map[string]evaluation.FieldFact{}
	}
	for _, path := range api.Fields {
		if _, known := fact.Fields[path]; !known {
			fact.Fields[path] = evaluation.FieldFact{Found: metav1.ConditionUnknown, Message: why}
		}
	}
	found.APIs[api.AddonAPI] = fact
}

func countFields(spec dependencyv1alpha1.ManagedClusterFactsSpec) int {
	count := 0
	for i := range spec.APIs {
		count += len(spec.APIs[i].Fields)
	}
	return count
}
