package simulator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Expected returns the final Degraded of every add-on on the clusters while some dependencies are down. It implements
// the proposal's rule once more. An add-on whose dependencies are all up may have no Degraded at all.
func (f *Fleet) Expected(clusters []string, down func(types.NamespacedName) bool) Expectation {
	expected := Expectation{}
	for _, cluster := range clusters {
		reasons := f.reasons(func(addOn string) bool { return down(types.NamespacedName{Namespace: cluster, Name: addOn}) })
		for _, addOn := range f.AddOns {
			expected[types.NamespacedName{Namespace: cluster, Name: addOn.Name}] = DegradedFor(reasons[addOn.Name])
		}
	}
	return expected
}

// reasons returns the reasons of Degraded on one cluster, by add-on. An add-on with a failing Required dependency
// does not satisfy its dependents either. So the reasons are computed in rounds, until a round changes nothing.
func (f *Fleet) reasons(down func(addOn string) bool) map[string]string {
	reasons := map[string]string{}
	for changed := true; changed; {
		changed = false
		for _, addOn := range f.AddOns {
			reason := ""
			for _, edge := range addOn.Dependencies {
				if !f.installed(edge.Name) || down(edge.Name) || reasons[edge.Name] == addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied {
					reason = stronger(reason, edge.Type)
				}
			}
			changed = changed || reason != reasons[addOn.Name]
			reasons[addOn.Name] = reason
		}
	}
	return reasons
}

func (f *Fleet) installed(name string) bool {
	for _, addOn := range f.AddOns {
		if addOn.Name == name {
			return true
		}
	}
	return false
}

func stronger(reason string, edge addonv1alpha1.DependencyType) string {
	if edge == addonv1alpha1.DependencyTypeRequired {
		return addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	}
	if reason == "" {
		return addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
	}
	return reason
}

// DegradedFor expects Degraded to be True for that reason. With an empty reason, it expects Degraded not to be True.
func DegradedFor(reason string) func(State) bool {
	return func(seen State) bool {
		if reason == "" {
			return seen.Degraded.Status != metav1.ConditionTrue
		}
		return seen.Degraded == Condition{Status: metav1.ConditionTrue, Reason: reason}
	}
}

// AvailableIs expects Available to have that status.
func AvailableIs(status metav1.ConditionStatus) func(State) bool {
	return func(seen State) bool { return seen.Available.Status == status }
}

// And expects both.
func And(first, second func(State) bool) func(State) bool {
	return func(seen State) bool { return first(seen) && second(seen) }
}

// VersionIs expects the add-on to have that resourceVersion.
func VersionIs(version string) func(State) bool {
	return func(seen State) bool { return seen.Version == version }
}
