package witness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind says what is wrong.
type Kind string

const (
	// NoChange means: a write by Interlock changed nothing.
	NoChange Kind = "no change"
	// Flip means: a condition returned to an earlier status and reason without a cause.
	Flip Kind = "flip"
	// LabelMoved means: a label of a ManagedCluster returned to an earlier value
	// without a cause, or moved in a quiet period.
	LabelMoved Kind = "label moved"
	// NotQuiet means: Interlock wrote, or a condition moved, in a quiet period.
	NotQuiet Kind = "not quiet"
	// AnsweredTwice means: more than one write of Interlock followed a stock True.
	AnsweredTwice Kind = "answered twice"
	// DeclarationLost means: a declared dependency is gone that no one removed.
	DeclarationLost Kind = "declaration lost"
	// Deleted means: an add-on or a registration is gone that no one removed.
	Deleted Kind = "deleted"
)

// Finding is something that must not happen.
type Finding struct {
	Kind   Kind
	Time   time.Time
	Object Object
	Writer Writer
	Detail string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s %s: %s: %s, by %s", f.Time.Format("15:04:05.000"), f.Kind, f.Object, f.Detail, f.Writer)
}

// maxReported bounds a report: later findings mostly repeat the first ones.
const maxReported = 40

// Report lists findings for people to read, one a line.
func Report(findings []Finding) string {
	var lines []string
	for _, finding := range findings[:min(len(findings), maxReported)] {
		lines = append(lines, finding.String())
	}
	if more := len(findings) - maxReported; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func sorted(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			a.Time.Compare(b.Time), cmp.Compare(a.Object.String(), b.Object.String()), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Detail, b.Detail),
		)
	})
	return findings
}
