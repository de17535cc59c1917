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
	// ProtectionPath is where a policy says what is done with changes that would break dependents.
	ProtectionPath = field.NewPath("spec", "protection")
	// InstallPath is where a policy says whether Interlock may have add-ons installed.
	InstallPath = field.NewPath("spec", "install")

	// protections and installs are all that a policy can say, the least strict first.
	protections = []dependencyv1alpha1.Protection{
		dependencyv1alpha1.ProtectionOff, dependencyv1alpha1.ProtectionWarn, dependencyv1alpha1.ProtectionEnforce,
	}
	installs = []dependencyv1alpha1.Install{dependencyv1alpha1.InstallAllow, dependencyv1alpha1.InstallDeny}
)

// statement is what one policy says of the managed clusters that it selects.
type statement[T ~string] struct {
	policy   string
	selector labels.Selector
	is       T
}

// statements are what all policies say of one thing, by the names of the policies.
type statements[T ~string] []statement[T]

func (s *statements[T]) add(policy string, selector labels.Selector, is T) {
	*s = append(*s, statement[T]{policy, selector, is})
	slices.SortFunc(*s, func(a, b statement[T]) int { return cmp.Compare(a.policy, b.policy) })
}

// Agreed is what all policies together say of one thing on a managed cluster.
type Agreed[T ~string] struct {
	// Is is empty where no policy says anything.
	Is T
	// Policies are those that say something of it, ascending.
	Policies []string
	// Conflicting: they contradict each other. The strictest counts.
	Conflicting bool
}

// on returns what counts on a managed cluster with these labels. strictness has all that can be said, the least strict first.
func (s statements[T]) on(clusterLabels map[string]string, strictness []T) (found Agreed[T]) {
	for _, one := range s {
		if !one.selector.Matches(labels.Set(clusterLabels)) {
			continue
		}
		found.Conflicting = found.Conflicting || found.Is != "" && found.Is != one.is
		if slices.Index(strictness, one.is) > slices.Index(strictness, found.Is) {
			found.Is = one.is
		}
		found.Policies = append(found.Policies, one.policy)
	}
	return found
}

// addStatements takes what a policy says of managed clusters. A protection that cannot be used says nothing, and an install that
// cannot be used denies it everywhere: nothing is done on doubt (lifecycle.md, principle 5).
func (s *Set) addStatements(of *dependencyv1alpha1.AddOnDependencyPolicy) {
	selector, wrong := readSelector(of)
	if of.Spec.ClusterSelector == nil {
		selector = labels.Everything()
	}
	if of.Spec.Protection != "" && wrong == "" && wrongProtection(of) == "" {
		s.protections.add(of.Name, selector, of.Spec.Protection)
	}
	switch {
	case of.Spec.Install == "":
	case wrong != "" || wrongInstall(of) != "":
		s.installs.add(of.Name, labels.Everything(), dependencyv1alpha1.InstallDeny)
	default:
		s.installs.add(of.Name, selector, of.Spec.Install)
	}
}

// wrongProtection is why the protection of a policy cannot be used; empty: it can.
func wrongProtection(of *dependencyv1alpha1.AddOnDependencyPolicy) string {
	return unsupported(ProtectionPath, of.Spec.Protection, protections)
}

// wrongInstall is why the install of a policy cannot be used; empty: it can.
func wrongInstall(of *dependencyv1alpha1.AddOnDependencyPolicy) string {
	return unsupported(InstallPath, of.Spec.Install, installs)
}

func unsupported[T ~string](path *field.Path, is T, all []T) string {
	if is == "" || slices.Contains(all, is) {
		return ""
	}
	return fmt.Sprint(field.NotSupported(path, is, all))
}

// Protects reports whether any policy says something of protection.
func (s Set) Protects() bool { return len(s.protections) > 0 }

// Protected returns what the policies say of the protection of a managed cluster with these labels.
func (s Set) Protected(clusterLabels map[string]string) Agreed[dependencyv1alpha1.Protection] {
	return s.protections.on(clusterLabels, protections)
}

// Denying returns the policies, ascending, that deny installations on a managed cluster with these labels.
func (s Set) Denying(clusterLabels map[string]string) (policies []string) {
	for _, one := range s.installs {
		if one.is == dependencyv1alpha1.InstallDeny && one.selector.Matches(labels.Set(clusterLabels)) {
			policies = append(policies, one.policy)
		}
	}
	return policies
}

// MayDeny reports whether any policy denies installations on some managed clusters.
func (s Set) MayDeny() bool {
	return slices.ContainsFunc(s.installs, func(one statement[dependencyv1alpha1.Install]) bool {
		return one.is == dependencyv1alpha1.InstallDeny
	})
}

// InstallsAlike reports whether both say the same of installations.
func (s Set) InstallsAlike(other Set) bool {
	return slices.EqualFunc(s.installs, other.installs, func(a, b statement[dependencyv1alpha1.Install]) bool {
		return a.policy == b.policy && a.is == b.is && a.selector.String() == b.selector.String()
	})
}

// OfClusters reports whether any policy says something of managed clusters, whatever add-ons are there.
func (s Set) OfClusters() bool { return len(s.protections)+len(s.installs) > 0 }

// Installs returns what the policies say of installations on a managed cluster with these labels.
func (s Set) Installs(clusterLabels map[string]string) Agreed[dependencyv1alpha1.Install] {
	return s.installs.on(clusterLabels, installs)
}
