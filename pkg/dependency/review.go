package dependency

import (
	"fmt"
	"sync/atomic"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Review is the answer to somebody who creates or updates a registration.
type Review struct {
	// Denials are why it cannot be accepted; empty when it can be.
	Denials []string
	// Warnings are what the author should know although it is accepted.
	Warnings []string
}

// Reviewer reviews registrations. It keeps the catalog of its latest review,
// so that each declaration is compiled once. It is safe for concurrent use.
type Reviewer struct{ latest atomic.Pointer[Catalog] }

// Review judges addOn as it is about to be stored among the others
// registered on the hub; before is what it replaces, nil for a new one. An
// update that leaves the declaration alone is never denied, so that what is
// stored already stays editable. What it is given must not be changed afterwards.
func (r *Reviewer) Review(addOn, before *addonv1alpha1.ClusterManagementAddOn, others []addonv1alpha1.ClusterManagementAddOn) Review {
	if before != nil && sameDeclaration(addOn, before) {
		return Review{}
	}
	registered := make([]addonv1alpha1.ClusterManagementAddOn, 0, len(others)+1)
	for i := range others {
		if others[i].Name != addOn.Name {
			registered = append(registered, others[i])
		}
	}
	catalog := r.latest.Load().Renew(append(registered, *addOn))
	r.latest.Store(catalog)

	var review Review
	if declaration := catalog.Declaration(addOn.Name); expressions(declaration.Dependencies) > maxExpressions {
		review.Denials = append(review.Denials, fmt.Sprintf(
			"%s: %d dependencies have when.expression; at most %d may; when.clusterSelector has no such limit",
			declaration.Path, expressions(declaration.Dependencies), maxExpressions))
	}
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

// expressions counts the dependencies that have one.
func expressions(dependencies []addonv1alpha1.AddonDependency) int {
	count := 0
	for i := range dependencies {
		if when := dependencies[i].When; when != nil && when.Expression != "" {
			count++
		}
	}
	return count
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
