// Package review judges a registration before it is created or updated, for admission
// and for kubectl addon lint.
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
	// Judgements are both, with their rules and fields.
	Judgements []Judgement
}

// Rule names what a judgement is about: a declaration.ProblemReason, or a rule of this
// package, by which admission denies nothing.
type Rule string

// Judgement is one thing that is wrong with a registration.
type Judgement struct {
	Rule Rule
	// Wrong: it has to be corrected. Else it is advice.
	Wrong bool
	// Field is its path in the registration; empty where no field is to blame.
	Field   string
	Message string
}

func (r *Result) deny(problem declaration.Problem, message string) {
	r.Denials = append(r.Denials, message)
	r.Judgements = append(r.Judgements, Judgement{Rule(problem.Reason), true, problem.Field, message})
}

func (r *Result) warn(problem declaration.Problem) {
	r.Warnings = append(r.Warnings, problem.Message)
	r.Judgements = append(r.Judgements, Judgement{Rule(problem.Reason), false, problem.Field, problem.Message})
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
	registered := r.registered
	declared := registered.With(addOn)
	r.mu.Unlock()

	var review Result
	for _, problem := range declared.Problems(addOn.Name) {
		switch problem.Reason {
		case declaration.ProblemInvalid:
			review.deny(problem, problem.Finding)
		case declaration.ProblemDuplicate:
			review.deny(problem, problem.Finding+"; remove all but one of them")
		case declaration.ProblemCycle:
			review.deny(problem, problem.Message)
			review.ByOthers = true
		case declaration.ProblemInterlockVersion, declaration.ProblemDeclaredTwice, declaration.ProblemNotRegistered,
			declaration.ProblemConditionalCycle:
			review.warn(problem)
		case declaration.ProblemUndeclared: // what was stored before works, apart from that expression
			review.warn(problem)
			review.Judgements[len(review.Judgements)-1].Wrong = true
		}
	}
	for _, judged := range impossible(addOn.Name, declared.Declaration(addOn.Name)) {
		review.Denials = append(review.Denials, judged.Field+": "+judged.Message)
		review.Judgements = append(review.Judgements, judged)
	}
	for _, judged := range warnings(addOn.Name, declared.Declaration(addOn.Name), registered) {
		review.Warnings = append(review.Warnings, judged.Field+": "+judged.Message)
		review.Judgements = append(review.Judgements, judged)
	}
	return review
}
