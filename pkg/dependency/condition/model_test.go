package condition

import (
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// proposal is a naive implementation of the proposal for one ManagedClusterAddOn. It has a map of the declarations of each
// add-on, and a map of the Available status of the installed add-ons. Members of a cycle are degraded, because the
// proposal only mentions them as a risk.
func proposal(declared map[string]list, status map[string]metav1.ConditionStatus, addOn string) (metav1.ConditionStatus, string) {
	var anyRequired, anyOptional bool
	for _, dependency := range declared[addOn] {
		isRequired := dependency.Type != addonv1alpha1.DependencyTypeOptional
		switch {
		case status[dependency.Name] == metav1.ConditionTrue && (!isRequired || !reaches(declared, dependency.Name, addOn, map[string]bool{})):
		case isRequired:
			anyRequired = true
		default:
			anyOptional = true
		}
	}
	switch {
	case anyRequired:
		return metav1.ConditionTrue, "RequiredDependencyNotSatisfied"
	case anyOptional:
		return metav1.ConditionTrue, "DependencyNotSatisfied"
	default:
		return "", ""
	}
}

func reaches(declared map[string]list, source, target string, seen map[string]bool) bool {
	if source == target {
		return true
	}
	seen[source] = true
	for _, dependency := range declared[source] {
		if dependency.Type != addonv1alpha1.DependencyTypeOptional && !seen[dependency.Name] && reaches(declared, dependency.Name, target, seen) {
			return true
		}
	}
	return false
}

func TestModel(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(3000) {
		r := fixture.Random(seed)
		declared, addOns := randomDeclarations(r)
		c := evaluator(addOns)
		stored := map[string]*metav1.Condition{}
		for range 4 { // one cluster after the other, or one through time
			status := randomStatus(r)
			observe := func(name string) evaluation.Observation {
				s, ok := status[name]
				if s == "" {
					return evaluation.Observation{Installed: ok}
				}
				return evaluation.Observation{Installed: ok, Available: fixture.Available(s, availability.ReasonClusterLost)}
			}
			cluster := evaluation.Cluster{
				Available: []metav1.ConditionStatus{"", "True", "False", "Unknown"}[r.IntN(4)], Offline: evaluation.OfflineStrict,
			}
			for name := range declared {
				if got, write := decide(stored[name], c.Evaluate(name, c.State(name, cluster, observe)), fixture.Now); write {
					stored[name] = &got
				}
				wantStatus, wantReason := proposal(declared, status, name)
				gotStatus, gotReason := said(stored[name])
				if gotStatus != wantStatus || gotReason != wantReason {
					t.Fatalf("seed %d: %s: want %s/%s, got %s/%s\ndeclared %v\nstatus %v",
						seed, name, wantStatus, wantReason, gotStatus, gotReason, declared[name], status)
				}
				seen[gotReason]++
			}
		}
	}
	for _, reason := range []string{"", requiredReason, optionalReason} {
		if seen[reason] < 1000 {
			t.Errorf("the fleets are too much alike: %v", seen)
		}
	}
}

// said returns the content of a condition in the terms of the proposal. The proposal has no reason for satisfied: Degraded
// is then just "not set with" its two reasons.
func said(condition *metav1.Condition) (metav1.ConditionStatus, string) {
	if condition == nil || condition.Reason == satisfiedReason {
		return "", ""
	}
	return condition.Status, condition.Reason
}

func randomDeclarations(r *rand.Rand) (map[string]list, []addonv1alpha1.ClusterManagementAddOn) {
	declared := map[string]list{}
	var addOns []addonv1alpha1.ClusterManagementAddOn
	size, density := 2+r.IntN(8), r.IntN(4)
	for source := range size {
		dependencies := list{}
		for target := range size + 1 { // the last is never registered
			if r.IntN(size) < density {
				dependencies = append(dependencies, addonv1alpha1.AddonDependency{
					Name: label(target),
					Type: []addonv1alpha1.DependencyType{"Required", "Optional", "Optional", ""}[r.IntN(4)],
				})
			}
		}
		declared[label(source)] = dependencies
		addOns = append(addOns, fixture.Registration(label(source), dependencies...))
	}
	return declared, addOns
}

// randomStatus installs most add-ons, most of them available; "" stands for
// one without the condition.
func randomStatus(r *rand.Rand) map[string]metav1.ConditionStatus {
	status := map[string]metav1.ConditionStatus{}
	for i := range 11 {
		switch n := r.IntN(12); {
		case n < 8:
			status[label(i)] = metav1.ConditionTrue
		case n < 11:
			status[label(i)] = []metav1.ConditionStatus{"", "False", "Unknown"}[n-8]
		}
	}
	return status
}
