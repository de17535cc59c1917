package policy

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// ProtectionPath is where a policy says what is done with changes that would break dependents.
var ProtectionPath = field.NewPath("spec", "protection")

// protections are all that a policy can say, the least strict first.
var protections = []dependencyv1alpha1.Protection{
	dependencyv1alpha1.ProtectionOff, dependencyv1alpha1.ProtectionWarn, dependencyv1alpha1.ProtectionEnforce,
}

// protection is what one policy says of the protection of the clusters that it selects.
type protection struct {
	policy   string
	selector labels.Selector
	is       dependencyv1alpha1.Protection
}

// Protected is what all policies together say of the protection of a managed cluster.
type Protected struct {
	// Protection is empty where no policy says anything.
	Protection dependencyv1alpha1.Protection
	// Policies are those that say something of it, ascending.
	Policies []string
	// Conflicting: they contradict each other. The strictest counts.
	Conflicting bool
}

// addProtection takes what a policy says. What cannot be used says nothing: nothing is refused
// on doubt (lifecycle.md, principle 5).
func (s *Set) addProtection(of *dependencyv1alpha1.AddOnDependencyPolicy) {
	if of.Spec.Protection == "" || wrongProtection(of) != "" {
		return
	}
	selector, wrong := readSelector(of)
	if wrong != "" {
		return
	}
	if of.Spec.ClusterSelector == nil {
		selector = labels.Everything()
	}
	s.protections = append(s.protections, protection{of.Name, selector, of.Spec.Protection})
	slices.SortFunc(s.protections, func(a, b protection) int { return cmp.Compare(a.policy, b.policy) })
}

// wrongProtection is why the protection of a policy cannot be used; empty: it can.
func wrongProtection(of *dependencyv1alpha1.AddOnDependencyPolicy) string {
	if of.Spec.Protection == "" || slices.Contains(protections, of.Spec.Protection) {
		return ""
	}
	return fmt.Sprint(field.NotSupported(ProtectionPath, of.Spec.Protection, protections))
}

// Protects reports whether any policy says something of protection.
func (s Set) Protects() bool { return len(s.protections) > 0 }

// Protected returns what the policies say of a managed cluster with these labels.
func (s Set) Protected(clusterLabels map[string]string) (found Protected) {
	for _, one := range s.protections {
		if !one.selector.Matches(labels.Set(clusterLabels)) {
			continue
		}
		found.Conflicting = found.Conflicting || found.Protection != "" && found.Protection != one.is
		if slices.Index(protections, one.is) > slices.Index(protections, found.Protection) {
			found.Protection = one.is
		}
		found.Policies = append(found.Policies, one.policy)
	}
	return found
}
