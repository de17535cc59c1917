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
	// Denials are the reasons to deny the registration. Without any, it is accepted.
	Denials []string
	// ByOthers is true if a denial depends on the declarations of other add-ons.
	ByOthers bool
	// Warnings are messages to the author of a registration that is accepted.
	Warnings []string
	// Judgements are the denials and warnings with their rules and fields.
	Judgements []Judgement
}

// Rule names the rule of a judgement: a declaration.ProblemReason, or a rule of this
// package. Because of the latter, admission denies no registration.
type Rule string

// Judgement reports a problem of a registration.
type Judgement struct {
	Rule Rule
	// Wrong is true if the author has to correct the registration. Otherwise the judgement
	// is advice.
	Wrong bool
	// Field is the path of a field in the registration. It is empty if the problem is in no field.
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

// Reviewer reviews registrations. It keeps the outline of the registered add-ons, so that
// it reads each declaration once. It is safe for concurrent use.
type Reviewer struct {
	mu         sync.Mutex
	registered *catalog.Outline
}

// Review judges a registration that is about to be stored among the others on the hub.
// oldAddOn is the stored registration, or nil if there is none. An update that leaves the
// declaration alone is never denied, so that a stored registration stays editable. The
// caller must not change the arguments afterwards.
func (r *Reviewer) Review(addOn, oldAddOn *addonv1alpha1.ClusterManagementAddOn, others []addonv1alpha1.ClusterManagementAddOn) Result {
	if oldAddOn != nil && declaration.SameDeclared(addOn, oldAddOn) {
		return Result{}
	}
	r.mu.Lock() // one at a time: a review of a large hub takes memory
	r.registered = r.registered.Renew(others)
	registered := r.registered
	changed := registered.CatalogWith(addOn)
	r.mu.Unlock()

	var review Result
	for _, problem := range changed.Problems(addOn.Name) {
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
		case declaration.ProblemUndeclared: // a stored registration works, apart from that expression
			review.warn(problem)
			review.Judgements[len(review.Judgements)-1].Wrong = true
		}
	}
	for _, judgement := range impossible(addOn.Name, changed.Declaration(addOn.Name)) {
		review.Denials = append(review.Denials, judgement.Field+": "+judgement.Message)
		review.Judgements = append(review.Judgements, judgement)
	}
	for _, judgement := range warnings(addOn.Name, changed.Declaration(addOn.Name), registered) {
		review.Warnings = append(review.Warnings, judgement.Field+": "+judgement.Message)
		review.Judgements = append(review.Judgements, judgement)
	}
	return review
}
