package main

import (
	"context"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	edgeMethod = `An add-on that is installed on all clusters gets a Required edge to one that is installed on none. Then the edge is ` +
		`removed. The time ends when a watch has delivered the last Degraded and, with agents, the last Available. It is ` +
		`compared as in 1.`
	edited = "search-collector"
)

func edge(ctx context.Context, s *session, results *result.Scenario) error {
	writes, bound := len(s.fleet.Clusters), declarationBound
	if s.agents != nil {
		writes, bound = 2*writes, stormBound
	}
	for range s.repetitions {
		storms := [2]storm{s.edgeStorm(ctx, true), s.edgeStorm(ctx, false)}
		comparisons, err := s.compare(ctx, writes, storms[0], storms[1])
		if err != nil {
			return err
		}
		for i := range comparisons {
			comparisons[i].addTo(results, storms[i].name, writes, bound)
		}
	}
	return nil
}

func (s *session) edgeStorm(ctx context.Context, added bool) storm {
	addOn, reason, name := simulator.AddOn{Name: edited}, "", "edge removed"
	if added {
		addOn.Dependencies = []addonv1alpha1.AddonDependency{{Name: simulator.Absent, Type: addonv1alpha1.DependencyTypeRequired}}
		reason, name = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, "edge added"
	}
	expected := simulator.Expectation{}
	for _, key := range simulator.KeysOn(s.fleet.Clusters, edited) {
		expected[key] = simulator.DegradedFor(reason)
		if s.agents != nil {
			expected[key] = simulator.And(expected[key], simulator.AvailableIs(statusOf(!added)))
		}
	}
	return storm{name: name, expected: expected, begin: func() error { return s.fleet.Hub.Declare(ctx, addOn) }}
}

// reasonOf returns the reason of a dependent if edge is its only failing edge.
func reasonOf(edge simulator.Edge) string {
	if edge.Required {
		return addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	}
	return addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
}
