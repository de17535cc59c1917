// Package review judges a registration before it is created or updated: what
// admission requests.
package review

import (
	"sync"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Result is the judgement on a registration.
type Result struct {
	// Denials are why it cannot be accepted; empty when it can be.
	Denials []string
	// ByOthers: a denial rests on what other add-ons declare.
	ByOthers bool
	// Warnings are what the author should know although it is accepted.
	Warnings []string
}

// Reviewer reviews registrations. It keeps the outline of what is registered, so
// that each declaration is read once. It is safe for concurrent use.
type Reviewer struct {
	mu         sync.Mutex
	registered *catalog.Outline
}

// Review judges addOn as it is about to be stored among the others
// registered on the hub; before is what it replaces, nil for a new one. An
// update that leaves the declaration alone is never denied, so that what is
// stored already stays editable. What it is given must not be changed afterwards.
func (r *Reviewer) Review(addOn, before *addonv1alpha1.ClusterManagementAddOn, others []addonv1alpha1.ClusterManagementAddOn) Result {
	if before != nil && declaration.SameDeclared(addOn, before) {
		return Result{}
	}
	r.mu.Lock() // one at a time: a review of a large hub takes memory
	r.registered = r.registered.Renew(others)
	declared := r.registered.With(addOn)
	r.mu.Unlock()

	var review Result
	for _, problem := range declared.Problems(addOn.Name) {
		switch problem.Reason {
		case declaration.ProblemInvalid:
			review.Denials = append(review.Denials, problem.Finding)
		case declaration.ProblemDuplicate:
			review.Denials = append(review.Denials, problem.Finding+"; remove all but one of them")
		case declaration.ProblemCycle:
			review.Denials, review.ByOthers = append(review.Denials, problem.Message), true
		case declaration.ProblemDeclaredTwice, declaration.ProblemNotRegistered, declaration.ProblemConditionalCycle:
			review.Warnings = append(review.Warnings, problem.Message)
		}
	}
	return review
}
