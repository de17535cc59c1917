package declaration

import (
	"open-cluster-management.io/interlock/pkg/text"
)

// MaxProblem is how long the message of a problem is at most, in bytes: what an
// event can carry.
const MaxProblem = 1024

// ProblemReason names a kind of problem; it is an event reason and the value
// of a metric label.
type ProblemReason string

// What can be wrong with a declaration.
const (
	// ProblemInvalid: the declaration cannot be used at all.
	ProblemInvalid ProblemReason = "InvalidDependencies"
	// ProblemInterlockVersion: it is for another version of Interlock, so it is not used.
	ProblemInterlockVersion ProblemReason = "InterlockVersionMismatch"
	// ProblemDuplicate: the list has a name twice; the stricter entry counts.
	ProblemDuplicate ProblemReason = "DuplicateDependency"
	// ProblemDeclaredTwice: field and annotation are both present; the field counts.
	ProblemDeclaredTwice ProblemReason = "DependenciesDeclaredTwice"
	// ProblemNotRegistered: a dependency has no ClusterManagementAddOn on this hub.
	ProblemNotRegistered ProblemReason = "DependencyNotRegistered"
	// ProblemUndeclared: an expression reads the settings of a dependency that is not declared.
	ProblemUndeclared ProblemReason = "UndeclaredDependency"
	// ProblemCycle: the add-on is on a cycle of Required dependencies.
	ProblemCycle ProblemReason = "DependencyCycle"
	// ProblemConditionalCycle: it is on one wherever the conditions of some
	// dependencies hold together.
	ProblemConditionalCycle ProblemReason = "ConditionalDependencyCycle"
)

// ProblemReasons lists every ProblemReason.
var ProblemReasons = []ProblemReason{
	ProblemInvalid, ProblemInterlockVersion, ProblemDuplicate, ProblemDeclaredTwice, ProblemNotRegistered, ProblemUndeclared,
	ProblemCycle, ProblemConditionalCycle,
}

// Problem is one thing wrong with a declaration.
type Problem struct {
	Reason ProblemReason
	// Finding names the field and the value.
	Finding string
	// Message is the finding with what follows from it, or what to do.
	Message string
	// Field is the path of the field that has the problem, of several the first.
	Field string
}

// NewProblem describes a problem of a field on one line that an event can carry, with the
// remedy always complete.
func NewProblem(reason ProblemReason, field, found, remedy string) Problem {
	finding := text.CutBytes(text.OneLine(found), MaxProblem-len("; ")-len(remedy))
	return Problem{Reason: reason, Field: field, Finding: finding, Message: finding + "; " + remedy}
}
