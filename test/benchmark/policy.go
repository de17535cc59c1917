package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const policyMethod = `An add-on that is installed on all clusters has an Optional edge to one that is installed on none. An ` +
	`AddOnDependencyPolicy that selects all clusters by a label makes the edge Required. Then the policy is deleted. The time ends when a ` +
	`watch has delivered the last Degraded. It is compared as in 1.`

func policy(ctx context.Context, s *session, results *result.Scenario) error {
	edge := addonv1alpha1.AddonDependency{Name: simulator.Absent, Type: addonv1alpha1.DependencyTypeOptional}
	optional := storm{
		name: "Optional edge added", expected: s.degradedEverywhere(addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied),
		begin: func() error {
			return s.fleet.Hub.Declare(ctx, simulator.AddOn{Name: edited, Dependencies: []addonv1alpha1.AddonDependency{edge}})
		},
	}
	removal := storm{
		name: "edge removed", expected: s.degradedEverywhere(""),
		begin: func() error { return s.fleet.Hub.Declare(ctx, simulator.AddOn{Name: edited}) },
	}
	writes := len(s.fleet.Clusters)
	if _, err := s.await(ctx, writes, optional); err != nil {
		return err
	}
	for range s.repetitions {
		storms := s.policyStorms(ctx, edge.Name)
		comparisons, err := s.compare(ctx, writes, storms[0], storms[1])
		if err != nil {
			return err
		}
		for i := range comparisons {
			comparisons[i].addTo(results, storms[i].name, writes, stormBound)
		}
	}
	_, err := s.await(ctx, writes, removal)
	return err
}

// policyStorms returns two storms: a policy is created, and it is deleted.
func (s *session) policyStorms(ctx context.Context, dependency string) [2]storm {
	policy := &dependencyv1alpha1.AddOnDependencyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "strict"}}
	policy.Spec.ClusterSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"none"}},
	}}
	policy.Spec.Overrides = []dependencyv1alpha1.DependencyOverride{
		{AddOn: edited, Dependency: dependency, Type: string(addonv1alpha1.DependencyTypeRequired)},
	}
	return [2]storm{
		{
			name: "policy created", expected: s.degradedEverywhere(addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied),
			begin: func() error { return wrapped(s.fleet.Hub.Client.Create(ctx, policy.DeepCopy()), "create a policy") },
		},
		{
			name: "policy deleted", expected: s.degradedEverywhere(addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied),
			begin: func() error { return wrapped(s.fleet.Hub.Client.Delete(ctx, policy.DeepCopy()), "delete a policy") },
		},
	}
}

// degradedEverywhere expects that reason on all clusters.
func (s *session) degradedEverywhere(reason string) simulator.Expectation {
	expected := simulator.Expectation{}
	for _, key := range simulator.KeysOn(s.fleet.Clusters, edited) {
		expected[key] = simulator.DegradedFor(reason)
	}
	return expected
}

func wrapped(err error, action string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}
