package dependency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	// MaxMessage is the longest message of a condition, in characters: what
	// the schema of a condition allows.
	MaxMessage = 32768

	maxName    = 253  // of a Kubernetes object; a longer name matches nothing
	maxReason  = 1024 // of a condition
	maxForeign = 4096
	maxProblem = 1024 // bytes: of an event's text
	maxMore    = len("; and 9223372036854775807 more")

	separator = "; "
	// foreignMark stands between our message and what somebody else's
	// Degraded said before we replaced it.
	foreignMark = foreignWord + " "
	foreignWord = "; also Degraded:"
)

// Message words the unsatisfied edges among the findings, one sentence each:
// those that block first, then by name. It is the same for the same findings in
// any order, at most limit characters long, and cut between edges. It is
// empty when no edge is unsatisfied.
func Message(findings []Finding, limit int) string {
	unsatisfied := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !f.Unsatisfied() })
	slices.SortFunc(unsatisfied, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.Dependency.Name, b.Dependency.Name))
	})

	var text strings.Builder
	left := limit - maxMore
	for i, finding := range unsatisfied {
		authorMessage := strings.TrimSpace(oneLine(finding.Dependency.Message))
		sentence := finding.sentence(authorMessage)
		if i == 0 {
			// What else a sentence has is bounded by itself.
			if excess := utf8.RuneCountInString(sentence) - left; excess > 0 {
				sentence = finding.sentence(shorten(authorMessage, utf8.RuneCountInString(authorMessage)-excess))
			}
		} else {
			sentence = separator + sentence
		}
		length := utf8.RuneCountInString(sentence)
		if length > left {
			fmt.Fprintf(&text, "; and %d more", len(unsatisfied)-i)
			break
		}
		left -= length
		text.WriteString(sentence)
	}
	return text.String()
}

func rank(f Finding) int {
	if blocking(f) {
		return 0
	}
	return 1
}

// sentence words one edge: the proposal's text, the author's message, and the
// finding in parentheses.
func (f Finding) sentence(authorMessage string) string {
	text := f.sentenceBeyond()
	if text == "" {
		text = fmt.Sprintf("%s addon '%s' is not installed or not available.", f.Dependency.Type, displayName(Target(f.Dependency)))
	}
	if authorMessage != "" {
		text += " " + authorMessage
	}
	found := f.found()
	if f.Detail != nil && f.Detail.ConditionError != "" {
		found += "; " + shorten(oneLine(f.Detail.ConditionError), maxReason)
	}
	return text + " (" + found + ")"
}

// ownDependencyFails is what Degraded and Available of the dependency both report.
// One of them changes after the other. The text stays the same, because another
// one would be written to each add-on of a chain, on its way down and up.
const ownDependencyFails = "a Required dependency of its own is not satisfied"

func (f Finding) found() string {
	switch f.Verdict {
	case NotInstalled:
		return "not installed"
	case Cycle:
		return cycleText(f.Cycle)
	case VersionMismatch, VersionUnknown, APINotServed, RequirementNotMet:
		return f.findingBeyond()
	default:
		switch {
		case f.Degraded != nil, f.Available != nil && f.Available.Reason == addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied:
			return ownDependencyFails
		case f.Available != nil:
			return conditionText(ConditionAvailable, f.Available)
		default:
			return "Available not reported yet"
		}
	}
}

func conditionText(kind string, condition *metav1.Condition) string {
	text := kind + "=" + string(condition.Status)
	if condition.Reason != "" {
		text += ", " + shorten(oneLine(condition.Reason), maxReason)
	}
	if !condition.LastTransitionTime.IsZero() {
		text += ", since " + condition.LastTransitionTime.UTC().Format(time.RFC3339)
	}
	return text
}

// foreignTail keeps what somebody else's Degraded says, for the end of ours.
func foreignTail(condition *metav1.Condition) string {
	text := condition.Reason
	if condition.Message != "" {
		text += ": " + condition.Message
	}
	return foreignMark + shorten(oneLine(text), maxForeign)
}

// keptTail finds the foreignTail at the end of one of our own messages. It
// shortens one that is longer than we write, so that ours fits before it.
func keptTail(message string) string {
	at := strings.LastIndex(message, foreignMark)
	if at < 0 {
		return ""
	}
	return foreignMark + shorten(oneLine(message[at+len(foreignMark):]), maxForeign)
}

// oneLine makes text safe inside a sentence of ours: valid, on one line, in
// the order in which it is written, and without the mark that only we may set.
// The mark's last blank does not count: what follows the text may bring it.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.ReplaceAll(text, foreignWord, ", also Degraded:")
}

func displayName(name string) string {
	return shorten(oneLine(name), maxName)
}

// shorten cuts text to at most limit characters, the last one then an ellipsis.
func shorten(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, limit-1)]) + "…"
}

// shortenBytes is shorten for a limit in bytes.
func shortenBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// blocking reports whether the add-on cannot work while the edge is unsatisfied.
func blocking(f Finding) bool { return blocks(f.Dependency.Type) }
