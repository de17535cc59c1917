package report

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Runbook has the pages of alerts, verdicts and reasons.
type Runbook struct {
	metav1.TypeMeta `json:",inline"`
	Items           []RunbookPage `json:"items"`
}

// RunbookPage explains an alert, a verdict or a reason.
type RunbookPage struct {
	Name string `json:"name"`
	// Meaning is the first paragraph of the text.
	Meaning string `json:"meaning"`
	// Text is the page as plain text, with where to look and how to repair it.
	Text string `json:"text"`
}
