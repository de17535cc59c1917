package condition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// MaxMessage is the maximum length of a message in the schema of a condition, in characters.
	MaxMessage = 32768

	maxMore = len("; and 9223372036854775807 more")

	separator = "; "
)

// Message describes the unsatisfied edges among the findings, one sentence each. Blocking edges come first, and then the
// order is by name. It does not depend on the order of the findings. It has at most limit characters, and is cut between
// edges. It is empty if no edge is unsatisfied.
func Message(findings []evaluation.Finding, limit int) string {
	return describe(findings, evaluation.Finding.Unsatisfied, limit)
}

// WaitMessage returns the Message for an installation or an upgrade that waits. It also describes the edges whose report
// is due.
func WaitMessage(findings []evaluation.Finding, limit int) string {
	return describe(findings, evaluation.Finding.KeepsWaiting, limit)
}

// describe describes the matching edges, like Message.
func describe(findings []evaluation.Finding, matches func(evaluation.Finding) bool, limit int) string {
	matching := slices.DeleteFunc(slices.Clone(findings), func(f evaluation.Finding) bool { return !matches(f) })
	slices.SortFunc(matching, func(a, b evaluation.Finding) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.Name(), b.Name()))
	})

	var message strings.Builder
	remaining := limit - maxMore
	for i := range matching {
		finding := &matching[i]
		authorMessage := strings.TrimSpace(text.OneLine(finding.AuthorMessage()))
		sentence := finding.Sentence(authorMessage)
		if i == 0 {
			// The other parts of a sentence have their own limits.
			if excess := utf8.RuneCountInString(sentence) - remaining; excess > 0 {
				sentence = text.Cut(finding.Sentence(text.Cut(authorMessage, utf8.RuneCountInString(authorMessage)-excess)), remaining)
			}
		} else {
			sentence = separator + sentence
		}
		length := utf8.RuneCountInString(sentence)
		if length > remaining {
			fmt.Fprintf(&message, "; and %d more", len(matching)-i)
			break
		}
		remaining -= length
		message.WriteString(sentence)
	}
	return message.String()
}

func rank(f evaluation.Finding) int {
	if f.Blocks() {
		return 0
	}
	return 1
}
