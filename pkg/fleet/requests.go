package fleet

import (
	"fmt"
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

// Unrequested returns what is needed and a spec does not request.
func Unrequested(spec dependencyv1alpha1.ManagedClusterFactsSpec, needed catalog.Requests) catalog.Requests {
	return catalog.Requests{
		APIs: slices.DeleteFunc(slices.Clone(needed.APIs), func(api addonv1alpha1.AddonAPI) bool {
			return slices.Contains(spec.APIs, dependencyv1alpha1.API(api))
		}),
		AddOns: slices.DeleteFunc(slices.Clone(needed.AddOns), func(name string) bool {
			return slices.Contains(spec.AddOns, dependencyv1alpha1.AddOn{Name: name})
		}),
	}
}

// complete reports whether all that is needed is known.
func complete(found evaluation.Facts, needed catalog.Requests) bool {
	return !slices.ContainsFunc(needed.APIs, func(api addonv1alpha1.AddonAPI) bool {
		_, known := found.APIs[api]
		return !known
	}) && !slices.ContainsFunc(needed.AddOns, func(name string) bool {
		_, known := found.Versions[name]
		return !known
	})
}

// setUnknown sets facts that are unknown, with the reason.
func setUnknown(found evaluation.Facts, of catalog.Requests, why string) {
	for _, api := range of.APIs {
		found.APIs[api] = evaluation.APIFact{Served: metav1.ConditionUnknown, Message: why}
	}
	for _, addOn := range of.AddOns {
		found.Versions[addOn] = evaluation.VersionFact{Message: why}
	}
}

// setLeftOut sets the facts that an object has no room to request.
func setLeftOut(found evaluation.Facts, spec dependencyv1alpha1.ManagedClusterFactsSpec, needed catalog.Requests) {
	const why = "Interlock requests at most %d %s of a managed cluster"
	leftOut := Unrequested(spec, needed)
	if len(spec.APIs) == dependencyv1alpha1.MaxRequests {
		setUnknown(found, catalog.Requests{APIs: leftOut.APIs}, fmt.Sprintf(why, dependencyv1alpha1.MaxRequests, "APIs"))
	}
	if len(spec.AddOns) == dependencyv1alpha1.MaxRequests {
		setUnknown(found, catalog.Requests{AddOns: leftOut.AddOns}, fmt.Sprintf(why, dependencyv1alpha1.MaxRequests, "add-ons"))
	}
}
