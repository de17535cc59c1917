package witness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of a finding.
type Kind string

const (
	// NoChange is a write by Interlock that changed nothing.
	NoChange Kind = "no change"
	// Flip is a condition that returned to an earlier status and reason without a cause.
	Flip Kind = "flip"
	// LabelMoved is a label of a ManagedCluster that returned to an earlier value without a cause, or moved in a
	// quiet period.
	LabelMoved Kind = "label moved"
	// NotQuiet is a write of Interlock, or a move of a condition, in a quiet period.
	NotQuiet Kind = "not quiet"
	// AnsweredTwice is a second write of Interlock after a stock True.
	AnsweredTwice Kind = "answered twice"
	// DeclarationLost is a declared dependency that disappeared without an intent to remove it.
	DeclarationLost Kind = "declaration lost"
	// Deleted is an add-on or a registration that disappeared without an intent to remove it.
	Deleted Kind = "deleted"
)

// Finding is an event that must not happen.
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

// maxReported bounds a report, because later findings mostly repeat the first ones.
const maxReported = 40

// Report lists findings for people to read, one a line.
func Report(findings []Finding) string {
	var lines []string
	for _, finding := range findings[:min(len(findings), maxReported)] {
		lines = append(lines, finding.String())
	}
	if excess := len(findings) - maxReported; excess > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", excess))
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
