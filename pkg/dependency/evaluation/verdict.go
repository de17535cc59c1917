package evaluation

// Verdict is the result of the evaluation of an edge on one managed cluster.
type Verdict string

// The verdicts.
const (
	// Satisfied means that the dependency is installed and its Available is True.
	Satisfied Verdict = "Satisfied"
	// NotInstalled means that the cluster has no ManagedClusterAddOn of the name.
	NotInstalled Verdict = "NotInstalled"
	// NotAvailable means that Available of the ManagedClusterAddOn is not True,
	// or that one of its own Required dependencies fails.
	NotAvailable Verdict = "NotAvailable"
	// VersionMismatch means that the edge does not accept the version of the available add-on.
	VersionMismatch Verdict = "VersionMismatch"
	// VersionUnknown means that no version of the add-on, or of the platform, is reported.
	VersionUnknown Verdict = "VersionUnknown"
	// APINotServed means that the API is not served, or that no agent reports it.
	APINotServed Verdict = "APINotServed"
	// RequirementNotMet means that the platform does not meet a requirement.
	RequirementNotMet Verdict = "RequirementNotMet"
	// SettingMismatch means that only the settings of the add-on do not satisfy the edge.
	SettingMismatch Verdict = "SettingMismatch"
	// Conflict means that an add-on is installed with which the dependent conflicts.
	Conflict Verdict = "Conflict"
	// NoAlternative means that no alternative of the edge is satisfied.
	NoAlternative Verdict = "NoAlternative"
	// Cycle means that the edge is on a cycle of Required edges and can never be satisfied.
	Cycle Verdict = "Cycle"
	// Held means that nothing new is known, because the cluster cannot be reached or its agent has not reported yet.
	Held Verdict = "Held"
	// Tolerated means that the add-on has been unavailable for less time than the edge tolerates.
	Tolerated Verdict = "Tolerated"
	// Waived means that an AddOnDependencyPolicy lets the edge count as satisfied for a while.
	Waived Verdict = "Waived"
	// NotApplicable means that the cluster does not meet the edge's condition.
	NotApplicable Verdict = "NotApplicable"
)

// Verdicts lists every Verdict.
var Verdicts = []Verdict{
	Satisfied, NotInstalled, NotAvailable, VersionMismatch, VersionUnknown, APINotServed, RequirementNotMet,
	SettingMismatch, Conflict, NoAlternative, Cycle, Held, Tolerated, Waived, NotApplicable,
}

// Unsatisfied reports whether an edge with the verdict certainly fails.
func (v Verdict) Unsatisfied() bool {
	return v != Satisfied && v != Held && v != Tolerated && v != Waived && v != NotApplicable
}
