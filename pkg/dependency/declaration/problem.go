package declaration

import (
	"open-cluster-management.io/interlock/pkg/text"
)

// MaxProblem is the maximum length of the message of a problem in bytes. It is the limit of
// events.
const MaxProblem = 1024

// ProblemReason is the reason of an event about a declaration, and the value of a label of metrics.
type ProblemReason string

// The problems of declarations.
const (
	// ProblemInvalid is a declaration that cannot be used.
	ProblemInvalid ProblemReason = "InvalidDependencies"
	// ProblemInterlockVersion is a declaration for another version of Interlock. It is not used.
	ProblemInterlockVersion ProblemReason = "InterlockVersionMismatch"
	// ProblemDuplicate is a second entry of the same name. The stricter entry counts.
	ProblemDuplicate ProblemReason = "DuplicateDependency"
	// ProblemDeclaredTwice is an annotation beside a field. The field counts.
	ProblemDeclaredTwice ProblemReason = "DependenciesDeclaredTwice"
	// ProblemNotRegistered is a dependency without a ClusterManagementAddOn on this hub.
	ProblemNotRegistered ProblemReason = "DependencyNotRegistered"
	// ProblemUndeclared is an expression that reads the settings of an undeclared dependency.
	ProblemUndeclared ProblemReason = "UndeclaredDependency"
	// ProblemCycle is a cycle of Required dependencies.
	ProblemCycle ProblemReason = "DependencyCycle"
	// ProblemConditionalCycle is a cycle of Required dependencies on clusters that meet the conditions of all of
	// them.
	ProblemConditionalCycle ProblemReason = "ConditionalDependencyCycle"
)

// ProblemReasons lists every ProblemReason.
var ProblemReasons = []ProblemReason{
	ProblemInvalid, ProblemInterlockVersion, ProblemDuplicate, ProblemDeclaredTwice, ProblemNotRegistered, ProblemUndeclared,
	ProblemCycle, ProblemConditionalCycle,
}

// Problem is a problem of a declaration.
type Problem struct {
	Reason ProblemReason
	// Finding has the field and the value.
	Finding string
	// Message is the finding with its consequence or a remedy.
	Message string
	// Field is the path of the first field with the problem.
	Field string
}

// NewProblem describes a problem of a field on one line that fits into an event. The remedy is never
// cut.
func NewProblem(reason ProblemReason, field, description, remedy string) Problem {
	finding := text.CutBytes(text.OneLine(description), MaxProblem-len("; ")-len(remedy))
	return Problem{Reason: reason, Field: field, Finding: finding, Message: finding + "; " + remedy}
}
