package page

import (
	"fmt"
	"strings"

	"open-cluster-management.io/interlock/pkg/report/drawing"
	"open-cluster-management.io/interlock/pkg/report/overview"
)

// classes are the classes of add-ons in pictures, by their worst state. Lost and Leaving only count without another state, because they are
// about managed clusters.
var classes = map[overview.State]string{
	overview.Failing: "failing", overview.Down: "failing",
	overview.Stale: "warning", overview.Waiting: "warning", overview.Limited: "warning",
	overview.Held: "unknown", overview.Unreported: "unknown", overview.Lost: "unknown", overview.Leaving: "unknown",
	overview.Working: "working",
}

// Marks returns the marks of add-ons in a picture, with the signs and numbers that the matrix has.
func Marks(nodes map[string]overview.NodeState) map[string]drawing.Mark {
	marks := map[string]drawing.Mark{}
	for addOn, node := range nodes {
		mark := markOf(node.States)
		if node.Missing > 0 {
			mark.Class, mark.Sign = classes[overview.Failing], missing
			needed := fmt.Sprintf("needed, and not installed on %d", node.Missing)
			if node.Missing == 1 && len(node.States) == 0 {
				needed = "needed, and not installed"
			}
			mark.Lines, mark.Words = append(mark.Lines, needed), strings.TrimPrefix(mark.Words+", "+needed, ", ")
		}
		marks[addOn] = mark
	}
	return marks
}

// missing is the sign of an add-on that is not installed where it is needed.
const missing = "✗"

// markOf returns the mark of an add-on in some states. It has no class if there are none.
func markOf(states []overview.StateCount) drawing.Mark {
	worst, failing, total := overview.State(""), 0, 0
	var signs, words []string
	for _, count := range states {
		total += count.Count
		if classes[count.State] == "failing" {
			failing += count.Count
		}
		if worst == "" || worst == overview.Lost || worst == overview.Leaving {
			worst = count.State
		}
		words = append(words, fmt.Sprintf("%s %d", wordOf(count.State), count.Count))
		signs = append(signs, fmt.Sprintf("%s %d", symbolOf(count.State), count.Count))
	}
	mark := drawing.Mark{Class: classes[worst], Sign: symbolOf(worst), Words: strings.Join(words, ", ")}
	switch total {
	case 0:
	case 1:
		mark.Lines = []string{wordOf(worst)}
	default:
		mark.Lines = []string{fmt.Sprintf("%d of %d fail", failing, total), strings.Join(signs, ", ")}
	}
	return mark
}

func symbolOf(state overview.State) string { return states[state].symbol }

func wordOf(state overview.State) string { return states[state].word }
