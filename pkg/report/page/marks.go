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
func Marks(states map[string][]overview.StateCount) map[string]drawing.Mark {
	marks := map[string]drawing.Mark{}
	for addOn, counts := range states {
		worst, failing, total := overview.State(""), 0, 0
		var signs, words []string
		for _, count := range counts {
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
		lines := []string{fmt.Sprintf("%d of %d fail", failing, total)}
		if total == 1 {
			lines = []string{wordOf(worst)}
		} else {
			lines = append(lines, strings.Join(signs, ", "))
		}
		marks[addOn] = drawing.Mark{Class: classes[worst], Sign: symbolOf(worst), Lines: lines, Words: strings.Join(words, ", ")}
	}
	return marks
}

func symbolOf(state overview.State) string { return states[state].symbol }

func wordOf(state overview.State) string { return states[state].word }
