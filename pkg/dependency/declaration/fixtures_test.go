package declaration

// CheckProblems is for the tests outside of this package.
var CheckProblems = checkProblems

// reasonsOf lists the reasons of problems in their order.
func reasonsOf(problems []Problem) []ProblemReason {
	var reasons []ProblemReason
	for _, problem := range problems {
		reasons = append(reasons, problem.Reason)
	}
	return reasons
}
