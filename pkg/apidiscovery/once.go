package apidiscovery

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Discover returns the facts on APIs as they are now, in the order of the requests. Where the
// API server does not respond, they are unknown, with the cause.
func (a API) Discover(ctx context.Context, requests []dependencyv1alpha1.APIRequest) []dependencyv1alpha1.APIFact {
	groups, failures := map[string]Group{}, map[string]error{}
	for name, fields := range Groups(requests) {
		found, err := discover(ctx, a, name)
		if err == nil {
			err = found.lookUp(ctx, a, name, fields, Schemas{})
		}
		groups[name], failures[name] = found, err
	}
	facts := make([]dependencyv1alpha1.APIFact, 0, len(requests))
	for _, request := range requests {
		fact, known := groups[request.Group].Fact(request)
		if err := failures[request.Group]; err != nil || !known {
			fact = dependencyv1alpha1.APIFact{API: request.API, Served: metav1.ConditionUnknown, Reason: dependencyv1alpha1.ReasonDiscoveryFailed}
			fact.Message = "the API server did not respond"
			if err != nil {
				fact.Message = bounded(err.Error())
			}
		}
		facts = append(facts, fact)
	}
	return facts
}
