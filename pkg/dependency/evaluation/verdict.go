package evaluation

// Verdict is what is true of one edge on one managed cluster.
type Verdict string

// The verdicts.
const (
	// Satisfied: the dependency is installed and its Available is True.
	Satisfied Verdict = "Satisfied"
	// NotInstalled: the cluster has no ManagedClusterAddOn of the name.
	NotInstalled Verdict = "NotInstalled"
	// NotAvailable: the ManagedClusterAddOn is there, but Available is not True,
	// or a Required dependency of its own fails.
	NotAvailable Verdict = "NotAvailable"
	// VersionMismatch: the add-on is available, in a version that the edge does not accept.
	VersionMismatch Verdict = "VersionMismatch"
	// VersionUnknown: no version of the add-on, or of the platform, is reported.
	VersionUnknown Verdict = "VersionUnknown"
	// APINotServed: the cluster that has to does not serve the API, or no agent reports that it does.
	APINotServed Verdict = "APINotServed"
	// RequirementNotMet: the platform is not what the add-on requires.
	RequirementNotMet Verdict = "RequirementNotMet"
	// SettingMismatch: the add-on satisfies the edge, but for its settings.
	SettingMismatch Verdict = "SettingMismatch"
	// Conflict: the add-on that the dependent conflicts with is installed.
	Conflict Verdict = "Conflict"
	// NoAlternative: no alternative of the edge is satisfied.
	NoAlternative Verdict = "NoAlternative"
	// Cycle: the edge is on a cycle of Required edges and can never be satisfied.
	Cycle Verdict = "Cycle"
	// Held: the cluster cannot be reached or its agent has not reported yet, so nothing new is known of the edge.
	Held Verdict = "Held"
	// Tolerated: the add-on is not available, for less long than the edge tolerates.
	Tolerated Verdict = "Tolerated"
	// Waived: an AddOnDependencyPolicy lets it count as satisfied for a while, whatever is true of it.
	Waived Verdict = "Waived"
	// NotApplicable: the edge's condition does not hold on the cluster.
	NotApplicable Verdict = "NotApplicable"
)

// Verdicts lists every Verdict.
var Verdicts = []Verdict{
	Satisfied, NotInstalled, NotAvailable, VersionMismatch, VersionUnknown, APINotServed, RequirementNotMet,
	SettingMismatch, Conflict, NoAlternative, Cycle, Held, Tolerated, Waived, NotApplicable,
}

// Unsatisfied reports whether an edge with the verdict is known not to be satisfied.
func (v Verdict) Unsatisfied() bool {
	return v != Satisfied && v != Held && v != Tolerated && v != Waived && v != NotApplicable
}
