package apidiscovery

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Discover returns the current facts about APIs, in the order of the requests. If the API
// server does not respond, they are unknown, with the cause.
func (a API) Discover(ctx context.Context, requests []dependencyv1alpha1.APIRequest) []dependencyv1alpha1.APIFact {
	groups, failures := map[string]Group{}, map[string]error{}
	for name, fields := range Groups(requests) {
		group, err := discover(ctx, a, name)
		if err == nil {
			err = group.lookUp(ctx, a, name, fields, Schemas{})
		}
		groups[name], failures[name] = group, err
	}
	facts := make([]dependencyv1alpha1.APIFact, 0, len(requests))
	for _, request := range requests {
		fact, ok := groups[request.Group].Fact(request)
		if err := failures[request.Group]; err != nil || !ok {
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
