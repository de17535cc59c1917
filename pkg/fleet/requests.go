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

// maxName is the maximum length of an object's name.
const maxName = 253

// Requestable leaves out add-ons whose name is too long for an object. They are installed
// nowhere, and the API server would reject the whole ManagedClusterFacts.
func Requestable(requests catalog.Requests) catalog.Requests {
	requests.AddOns = slices.DeleteFunc(requests.AddOns, func(name string) bool { return utf8.RuneCountInString(name) > maxName })
	return requests
}

// APIRequests returns the requests for APIs in the form that agents read.
func APIRequests(apis []addonv1alpha1.DependencyAPI) []dependencyv1alpha1.APIRequest {
	requests := make([]dependencyv1alpha1.APIRequest, len(apis))
	for i := range apis {
		requests[i] = dependencyv1alpha1.APIRequest{API: dependencyv1alpha1.API(apis[i].AddonAPI), Fields: apis[i].Fields}
	}
	return requests
}

// Unrequested returns the needed requests that a spec lacks. An API has only the fields
// that are not requested.
func Unrequested(spec dependencyv1alpha1.ManagedClusterFactsSpec, needed catalog.Requests) catalog.Requests {
	unrequested := catalog.Requests{AddOns: slices.DeleteFunc(slices.Clone(needed.AddOns), func(name string) bool {
		return slices.Contains(spec.AddOns, dependencyv1alpha1.AddOn{Name: name})
	})}
	for _, api := range needed.APIs {
		fields, requested := requestedFields(spec, api.AddonAPI)
		api.Fields = slices.DeleteFunc(slices.Clone(api.Fields), func(path string) bool { return slices.Contains(fields, path) })
		if !requested || len(api.Fields) > 0 {
			unrequested.APIs = append(unrequested.APIs, api)
		}
	}
	return unrequested
}

// requestedFields returns the fields of an API that a spec requests, and whether it requests
// the API at all.
func requestedFields(spec dependencyv1alpha1.ManagedClusterFactsSpec, api addonv1alpha1.AddonAPI) ([]string, bool) {
	for i := range spec.APIs {
		if spec.APIs[i].API == dependencyv1alpha1.API(api) {
			return spec.APIs[i].Fields, true
		}
	}
	return nil, false
}

// complete reports whether the facts cover all needed requests.
func complete(facts evaluation.Facts, needed catalog.Requests) bool {
	return !slices.ContainsFunc(needed.APIs, func(api addonv1alpha1.DependencyAPI) bool {
		fact, ok := facts.APIs[api.AddonAPI]
		return !ok || fact.Awaited(api.Fields)
	}) && !slices.ContainsFunc(needed.AddOns, func(name string) bool {
		_, ok := facts.Versions[name]
		return !ok
	})
}

// setUnknown sets the requested facts to unknown, with the reason.
func setUnknown(facts evaluation.Facts, requests catalog.Requests, reason string) {
	for _, api := range requests.APIs {
		facts.APIs[api.AddonAPI] = evaluation.APIFact{Served: metav1.ConditionUnknown, Message: reason}
	}
	for _, addOn := range requests.AddOns {
		facts.Versions[addOn] = evaluation.VersionFact{Message: reason}
	}
}

// setLeftOut sets the facts to unknown that the full object has no room to request.
func setLeftOut(facts evaluation.Facts, spec dependencyv1alpha1.ManagedClusterFactsSpec, needed catalog.Requests) {
	const reason = "Interlock requests at most %d %s of a managed cluster"
	leftOut := Unrequested(spec, needed)
	for _, api := range leftOut.APIs {
		_, requested := requestedFields(spec, api.AddonAPI)
		switch {
		case !requested && len(spec.APIs) == dependencyv1alpha1.MaxRequests:
			requests := catalog.Requests{APIs: []addonv1alpha1.DependencyAPI{api}}
			setUnknown(facts, requests, fmt.Sprintf(reason, dependencyv1alpha1.MaxRequests, "APIs"))
		case requested && countFields(spec) == dependencyv1alpha1.MaxFields:
			setFieldsUnknown(facts, api, fmt.Sprintf(reason, dependencyv1alpha1.MaxFields, "fields of APIs"))
		}
	}
	if len(spec.AddOns) == dependencyv1alpha1.MaxRequests {
		setUnknown(facts, catalog.Requests{AddOns: leftOut.AddOns}, fmt.Sprintf(reason, dependencyv1alpha1.MaxRequests, "add-ons"))
	}
}

// setFieldsUnknown sets the fields of an API that are not reported to unknown, with the reason.
func setFieldsUnknown(facts evaluation.Facts, api addonv1alpha1.DependencyAPI, reason string) {
	fact, reported := facts.APIs[api.AddonAPI]
	if !reported || !fact.Awaited(api.Fields) {
		return
	}
	fact.Fields = maps.Clone(fact.Fields)
	if fact.Fields == nil {
		fact.Fields = map[string]evaluation.FieldFact{}
	}
	for _, path := range api.Fields {
		if _, ok := fact.Fields[path]; !ok {
			fact.Fields[path] = evaluation.FieldFact{Exists: metav1.ConditionUnknown, Message: reason}
		}
	}
	facts.APIs[api.AddonAPI] = fact
}

func countFields(spec dependencyv1alpha1.ManagedClusterFactsSpec) int {
	count := 0
	for i := range spec.APIs {
		count += len(spec.APIs[i].Fields)
	}
	return count
}
