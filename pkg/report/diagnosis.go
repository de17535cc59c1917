package report

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Diagnosis reports whether Interlock itself works on a hub.
type Diagnosis struct {
	metav1.TypeMeta `json:",inline"`
	// Items are the results of the checks, in the order in which the checks are made.
	Items []CheckResult `json:"items"`
}

// CheckResult is a result of a check. A check can have several.
type CheckResult struct {
	// Check is the name of the check.
	Check  string      `json:"check"`
	Status CheckStatus `json:"status"`
	// Message describes the result, for people.
	Message string `json:"found"`
	// Repair is a command, or a page of the documentation. It is empty if there is nothing to repair.
	Repair string `json:"repair,omitempty"`
}

// CheckStatus is the outcome of a check.
type CheckStatus string

// The outcomes of a check.
const (
	CheckPassed CheckStatus = "Passed"
	CheckFailed CheckStatus = "Failed"
	// CheckUnknown means that the check could not read an object, mostly because the user has no right to.
	CheckUnknown CheckStatus = "Unknown"
	// CheckNote is no failure: a setting, or a state.
	CheckNote CheckStatus = "Note"
)

// NewDiagnosis returns a diagnosis without findings.
func NewDiagnosis() *Diagnosis {
	return &Diagnosis{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "Diagnosis"}, Items: []CheckResult{}}
}

// Failed reports whether a check failed.
func (d *Diagnosis) Failed() bool {
	return slices.ContainsFunc(d.Items, func(result CheckResult) bool { return result.Status == CheckFailed })
}
