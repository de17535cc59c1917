package policy

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

var (
	// ProtectionPath is the field of a policy for changes that would break dependents.
	ProtectionPath = field.NewPath("spec", "protection")
	// InstallPath is the field of a policy for installations by Interlock.
	InstallPath = field.NewPath("spec", "install")

	// protections and installs are the values of these fields, the least strict first.
	protections = []dependencyv1alpha1.Protection{
		dependencyv1alpha1.ProtectionOff, dependencyv1alpha1.ProtectionWarn, dependencyv1alpha1.ProtectionEnforce,
	}
	installs = []dependencyv1alpha1.Install{dependencyv1alpha1.InstallAllow, dependencyv1alpha1.InstallDeny}
)

// statement is the value of a field in one policy, for the managed clusters that the policy selects.
type statement[T ~string] struct {
	policy   string
	selector labels.Selector
	value    T
}

// statements are the values of one field in all policies, ordered by policy.
type statements[T ~string] []statement[T]

func (s *statements[T]) add(policy string, selector labels.Selector, value T) {
	*s = append(*s, statement[T]{policy, selector, value})
	slices.SortFunc(*s, func(a, b statement[T]) int { return cmp.Compare(a.policy, b.policy) })
}

// Agreed is the value of a field that results from all policies, on one managed cluster.
type Agreed[T ~string] struct {
	// Value is the strictest value. It is empty if no policy has a value.
	Value T
	// Policies has the policies with a value, in ascending order.
	Policies []string
	// Conflicting is true if two policies have different values.
	Conflicting bool
}

// agree returns the value for a managed cluster with these labels. strictness has all values, the least strict first.
func (s statements[T]) agree(clusterLabels map[string]string, strictness []T) Agreed[T] {
	var agreed Agreed[T]
	for _, statement := range s {
		if !statement.selector.Matches(labels.Set(clusterLabels)) {
			continue
		}
		agreed.Conflicting = agreed.Conflicting || agreed.Value != "" && agreed.Value != statement.value
		if slices.Index(strictness, statement.value) > slices.Index(strictness, agreed.Value) {
			agreed.Value = statement.value
		}
		agreed.Policies = append(agreed.Policies, statement.policy)
	}
	return agreed
}

// addStatements adds the fields of a policy that concern all add-ons of a managed cluster. An unusable protection is
// ignored. An unusable install denies installations everywhere, because an uncertain policy must not allow them.
func (s *Set) addStatements(policy *dependencyv1alpha1.AddOnDependencyPolicy) {
	selector, problem := readSelector(policy)
	if policy.Spec.ClusterSelector == nil {
		selector = labels.Everything()
	}
	if policy.Spec.Protection != "" && problem == "" && protectionProblem(policy) == "" {
		s.protections.add(policy.Name, selector, policy.Spec.Protection)
	}
	switch {
	case policy.Spec.Install == "":
	case problem != "" || installProblem(policy) != "":
		s.installs.add(policy.Name, labels.Everything(), dependencyv1alpha1.InstallDeny)
	default:
		s.installs.add(policy.Name, selector, policy.Spec.Install)
	}
}

// protectionProblem returns why the protection of a policy is unusable, or an empty string.
func protectionProblem(policy *dependencyv1alpha1.AddOnDependencyPolicy) string {
	return unsupported(ProtectionPath, policy.Spec.Protection, protections)
}

// installProblem returns why the install of a policy is unusable, or an empty string.
func installProblem(policy *dependencyv1alpha1.AddOnDependencyPolicy) string {
	return unsupported(InstallPath, policy.Spec.Install, installs)
}

func unsupported[T ~string](path *field.Path, value T, supported []T) string {
	if value == "" || slices.Contains(supported, value) {
		return ""
	}
	return fmt.Sprint(field.NotSupported(path, value, supported))
}

// Protects reports whether any policy sets a protection.
func (s Set) Protects() bool { return len(s.protections) > 0 }

// Protected returns the protection of a managed cluster with these labels.
func (s Set) Protected(clusterLabels map[string]string) Agreed[dependencyv1alpha1.Protection] {
	return s.protections.agree(clusterLabels, protections)
}

// Denying returns the policies that deny installations on a managed cluster with these labels, in ascending order.
func (s Set) Denying(clusterLabels map[string]string) []string {
	var policies []string
	for _, statement := range s.installs {
		if statement.value == dependencyv1alpha1.InstallDeny && statement.selector.Matches(labels.Set(clusterLabels)) {
			policies = append(policies, statement.policy)
		}
	}
	return policies
}

// MayDeny reports whether any policy denies installations on some managed clusters.
func (s Set) MayDeny() bool {
	return slices.ContainsFunc(s.installs, func(statement statement[dependencyv1alpha1.Install]) bool {
		return statement.value == dependencyv1alpha1.InstallDeny
	})
}

// InstallsAlike reports whether both sets allow and deny the same installations.
func (s Set) InstallsAlike(b Set) bool {
	return slices.EqualFunc(s.installs, b.installs, func(a, b statement[dependencyv1alpha1.Install]) bool {
		return a.policy == b.policy && a.value == b.value && a.selector.String() == b.selector.String()
	})
}

// OfClusters reports whether any policy has a field that concerns all add-ons of a managed cluster.
func (s Set) OfClusters() bool { return len(s.protections)+len(s.installs) > 0 }

// Installs returns whether installations are allowed on a managed cluster with these labels.
func (s Set) Installs(clusterLabels map[string]string) Agreed[dependencyv1alpha1.Install] {
	return s.installs.agree(clusterLabels, installs)
}
