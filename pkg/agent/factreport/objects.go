package factreport

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"open-cluster-management.io/interlock/pkg/agent/objectcount"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
)

// kindsOf returns a request for the API of each kind, because only discovery shows which resource to count.
func kindsOf(kinds []dependencyv1alpha1.ObjectKind) []dependencyv1alpha1.APIRequest {
	requests := make([]dependencyv1alpha1.APIRequest, len(kinds))
	for i, kind := range kinds {
		requests[i] = request(kind)
	}
	return requests
}

func request(kind dependencyv1alpha1.ObjectKind) dependencyv1alpha1.APIRequest {
	return dependencyv1alpha1.APIRequest{API: dependencyv1alpha1.API{Group: kind.Group, Kind: kind.Kind}}
}

// resourceOf returns the resource of a kind. The second result is false until the API server is known to serve the kind.
func resourceOf(kind dependencyv1alpha1.ObjectKind, group apidiscovery.Group) (objectcount.Resource, bool) {
	if fact, ok := group.Fact(request(kind)); !ok || fact.Served != metav1.ConditionTrue {
		return objectcount.Resource{}, false
	}
	return objectcount.Resource{Group: kind.Group, Version: group.Kinds[kind.Kind][0], Resource: group.Resources[kind.Kind]}, true
}

// objectsFact returns the fact on the objects of a kind. The second result is false while the fact is unknown. A kind that is not
// served has no objects.
func objectsFact(kind dependencyv1alpha1.ObjectKind, observation observation) (dependencyv1alpha1.ObjectsFact, bool) {
	fact := dependencyv1alpha1.ObjectsFact{ObjectKind: kind}
	api, ok := observation.groups[kind.Group].Fact(request(kind))
	switch {
	case !ok:
		return fact, false
	case api.Served == metav1.ConditionFalse:
		fact.Count = ptr.To[int64](0)
		return fact, true
	case api.Served == metav1.ConditionUnknown:
		fact.Reason, fact.Message = api.Reason, api.Message
		return fact, true
	}
	count, ok := observation.counts[kind]
	if count.Reason != "" {
		fact.Reason, fact.Message = count.Reason, bounded(count.Message)
		return fact, ok
	}
	fact.Count, fact.AtLeast = &count.Number, count.AtLeast
	return fact, ok
}
