// Package review judges a registration before it is created or updated: what
// admission requests.
package review

import (
	"sync/atomic"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Result is the judgement on a registration.
type Result struct {
	// Denials are why it cannot be accepted; empty when it can be.
	Denials []string
	// Warnings are what the author should know although it is accepted.
	Warnings []string
}

// Reviewer reviews registrations. It keeps the catalog of its latest review,
// so that each declaration is compiled once. It is safe for concurrent use.
type Reviewer struct {
	latest atomic.Pointer[catalog.Catalog]
}

// Review judges addOn as it is about to be stored among the others
// registered on the hub; before is what it replaces, nil for a new one. An
// update that leaves the declaration alone is never denied, so that what is
// stored already stays editable. What it is given must not be changed afterwards.
func (r *Reviewer) Review(addOn, before *addonv1alpha1.ClusterManagementAddOn, others []addonv1alpha1.ClusterManagementAddOn) Result {
	if before != nil && declaration.SameDeclared(addOn, before) {
		return Result{}
	}
	registered := make([]addonv1alpha1.ClusterManagementAddOn, 0, len(others)+1)
	for i := range others {
		if others[i].Name != addOn.Name {
			registered = append(registered, others[i])
		}
	}
	declared := r.latest.Load().Renew(append(registered, *addOn))
	r.latest.Store(declared)

	var review Result
	for _, problem := range declared.Problems(addOn.Name) {
		switch problem.Reason {
		case declaration.ProblemInvalid:
			review.Denials = append(review.Denials, problem.Finding)
		case declaration.ProblemDuplicate:
			review.Denials = append(review.Denials, problem.Finding+"; remove all but one of them")
		case declaration.ProblemCycle:
			review.Denials = append(review.Denials, problem.Message)
		case declaration.ProblemDeclaredTwice, declaration.ProblemNotRegistered, declaration.ProblemConditionalCycle:
			review.Warnings = append(review.Warnings, problem.Message)
		}
	}
	return review
}
