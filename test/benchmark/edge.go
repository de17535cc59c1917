package main

import (
	"context"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	edgeMethod = `An add-on that is installed on all clusters comes to require one that is installed on none, and no longer does. ` +
		`Measured until the last Degraded, and the last Available where there are agents, has been delivered on a watch; compared as in 1.`
	edited = "search-collector"
)

func edge(ctx context.Context, s *session, found *result.Scenario) error {
	comparison := &comparison{session: s}
	for range s.repetitions {
		for _, added := range []bool{true, false} {
			if err := s.edgeOnce(ctx, added, comparison, found); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) edgeOnce(ctx context.Context, added bool, comparison *comparison, found *result.Scenario) error {
	addOn, reason, what := simulator.AddOn{Name: edited}, "", "removed"
	if added {
		addOn.Dependencies = []addonv1alpha1.AddonDependency{{Name: simulator.Absent, Type: addonv1alpha1.DependencyTypeRequired}}
		reason, what = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, "added"
	}
	expected, writes := simulator.Expectation{}, 0
	for _, key := range simulator.On(s.fleet.Clusters, edited) {
		expected[key] = simulator.DegradedFor(reason)
		writes++
		if s.agents != nil {
			expected[key] = simulator.Both(expected[key], simulator.AvailableIs(statusOf(!added)))
			writes++
		}
	}
	comparison.writes = writes
	storm, err := comparison.storm(ctx, expected, func() error { return s.fleet.Hub.Declare(ctx, addOn) })
	if err != nil {
		return err
	}
	storm.tell(found, "edge "+what, writes)
	return nil
}

// reasonOf is the reason of a dependent whose only failing edge that is.
func reasonOf(edge simulator.Edge) string {
	if edge.Required {
		return addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	}
	return addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
}
