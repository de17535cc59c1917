package report

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Diagnosis reports whether Interlock itself works on a hub.
type Diagnosis struct {
	metav1.TypeMeta `json:",inline"`
	// Items are what the checks found, in the order in which they are made.
	Items []Checked `json:"items"`
}

// Checked is a finding of a check.
type Checked struct {
	// Check is its name.
	Check  string      `json:"check"`
	Status CheckStatus `json:"status"`
	// Found is what it found, for people.
	Found string `json:"found"`
	// Repair is what to do: a command, or a page of the documentation. It is empty where nothing
	// is to be done.
	Repair string `json:"repair,omitempty"`
}

// CheckStatus is the result of a check.
type CheckStatus string

// The results of a check.
const (
	CheckPassed CheckStatus = "Passed"
	CheckFailed CheckStatus = "Failed"
	// CheckUnknown: the user has no right to read what it needs.
	CheckUnknown CheckStatus = "Unknown"
	// CheckNote is no failure: a setting, or a state.
	CheckNote CheckStatus = "Note"
)

// NewDiagnosis returns a diagnosis without findings.
func NewDiagnosis() *Diagnosis {
	return &Diagnosis{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "Diagnosis"}, Items: []Checked{}}
}

// Failed reports whether a check failed.
func (d *Diagnosis) Failed() bool {
	return slices.ContainsFunc(d.Items, func(checked Checked) bool { return checked.Status == CheckFailed })
}
