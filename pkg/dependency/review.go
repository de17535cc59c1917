package dependency

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Review is the answer to somebody who creates or updates a registration.
type Review struct {
	// Denials are why it cannot be accepted; empty when it can be.
	Denials []string
	// Warnings are what the author should know although it is accepted.
	Warnings []string
}

// ReviewRegistration judges addOn as it is about to be stored among the others
// registered on the hub; before is what it replaces, nil for a new one. An
// update that leaves the declaration alone is never denied, so that what is
// stored already stays editable.
func ReviewRegistration(addOn, before *addonv1alpha1.ClusterManagementAddOn, others []addonv1alpha1.ClusterManagementAddOn) Review {
	if before != nil && sameDeclaration(addOn, before) {
		return Review{}
	}
	registered := make([]addonv1alpha1.ClusterManagementAddOn, 0, len(others)+1)
	for i := range others {
		if others[i].Name != addOn.Name {
			registered = append(registered, others[i])
		}
	}
	catalog := NewCatalog(append(registered, *addOn))

	var review Review
	for _, problem := range catalog.Problems(addOn.Name) {
		switch problem.Reason {
		case ProblemInvalid:
			review.Denials = append(review.Denials, problem.Finding)
		case ProblemDuplicate:
			review.Denials = append(review.Denials, problem.Finding+"; remove all but one of them")
		case ProblemCycle:
			review.Denials = append(review.Denials, problem.Message)
		case ProblemDeclaredTwice, ProblemNotRegistered, ProblemConditionalCycle:
			review.Warnings = append(review.Warnings, problem.Message)
		}
	}
	return review
}

// sameDeclaration compares what was written, but for types left to their default.
func sameDeclaration(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	before, after := sourceOf(a), sourceOf(b)
	before.dependencies, after.dependencies = withTypes(before.dependencies), withTypes(after.dependencies)
	return before.equal(after)
}

// withTypes fills in the default, which an object stored before it has not.
func withTypes(listed []addonv1alpha1.AddonDependency) []addonv1alpha1.AddonDependency {
	if listed == nil {
		return nil
	}
	filled := make([]addonv1alpha1.AddonDependency, len(listed))
	for i, entry := range listed {
		if filled[i] = entry; entry.Type == "" {
			filled[i].Type = addonv1alpha1.DependencyTypeRequired
		}
	}
	return filled
}
