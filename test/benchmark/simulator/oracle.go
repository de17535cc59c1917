package simulator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Expected returns how Degraded of every add-on on the clusters must end when
// those dependencies are down, by the proposal's rule written down once more.
// An add-on all of whose dependencies are up may have no Degraded at all.
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

// reasons are those of Degraded on one cluster, empty for none. An add-on whose
// Required dependency fails is no satisfied dependency either, so they are found in
// rounds, until one of them changes nothing.
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

// DegradedFor wants Degraded to be True for that reason; for none, not to be.
func DegradedFor(reason string) func(State) bool {
	return func(seen State) bool {
		if reason == "" {
			return seen.Degraded.Status != metav1.ConditionTrue
		}
		return seen.Degraded == Condition{Status: metav1.ConditionTrue, Reason: reason}
	}
}

// AvailableIs wants Available to have that status.
func AvailableIs(status metav1.ConditionStatus) func(State) bool {
	return func(seen State) bool { return seen.Available.Status == status }
}

// Both wants both.
func Both(one, other func(State) bool) func(State) bool {
	return func(seen State) bool { return one(seen) && other(seen) }
}

// VersionIs wants the add-on to have that resourceVersion.
func VersionIs(version string) func(State) bool {
	return func(seen State) bool { return seen.Version == version }
}
