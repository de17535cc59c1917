package table

import (
	"slices"
	"strings"
	"unicode/utf8"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// shown are the aligned rows as the output shows them. Colors come last: what aligns
// columns would count their characters.
func (t *Table) shown(rows [][]string) string {
	screen := terminal.Of(t.out)
	if screen == (terminal.Screen{}) {
		return t.aligned.String()
	}
	widths := t.writer.RememberedWidths()
	if t.columns == nil { // rows that come later have the columns of the heading
		t.columns = t.fitting(screen.Width, widths, rows)
	}
	var lines strings.Builder
	for _, cells := range rows {
		t.show(&lines, screen, cells, widths)
		lines.WriteString("\n")
	}
	return lines.String()
}

// show adds one line; cells are the texts of all columns.
func (t *Table) show(lines *strings.Builder, screen terminal.Screen, cells []string, widths []int) {
	start := 0
	for i, column := range t.columns {
		content, isLast := cells[column], i == len(t.columns)-1
		if isLast && screen.Width > 0 && !t.Uncut {
			content = text.Cut(content, t.room(screen.Width, start))
		}
		lines.WriteString(screen.Paint(ColorOf(t.heading[column], content), content))
		if !isLast {
			lines.WriteString(strings.Repeat(" ", max(0, widths[column]-utf8.RuneCountInString(content))))
			start += widths[column]
		}
	}
}

const (
	// least is how much room the last column should have, and scant what is still readable.
	least = 20
	scant = 8
)

// fitting are the columns that are shown, by their places: all, but for spare ones on a
// screen that is too narrow.
func (t *Table) fitting(width int, widths []int, rows [][]string) []int {
	columns := make([]int, len(t.heading))
	for i := range columns {
		columns[i] = i
	}
	if width == 0 || t.Uncut {
		return columns
	}
	for _, spare := range t.Spare {
		start, last, longest := 0, columns[len(columns)-1], 0
		for _, column := range columns[:len(columns)-1] {
			start += widths[column]
		}
		for _, cells := range rows {
			longest = max(longest, utf8.RuneCountInString(cells[last]))
		}
		if width-start >= min(longest, least) {
			break
		}
		columns = slices.DeleteFunc(columns, func(column int) bool { return t.heading[column] == spare })
	}
	return columns
}

// room is how long the last column may be: up to the end of a line of the screen, and of the
// next one where there is too little room.
func (t *Table) room(width, start int) int {
	if len(t.Spare) > 0 && width-start >= scant {
		return width - start
	}
	end := width
	for end-start < least {
		end += width
	}
	return end - start
}

// ColorOf is the color of a value in a column of that name.
func ColorOf(column, value string) terminal.Color {
	good := map[string]string{"AVAILABLE": "True", "DEGRADED": "False"}[column]
	switch column {
	case "AVAILABLE", "DEGRADED":
		switch value {
		case good:
			return terminal.Green
		case "True", "False":
			return terminal.Red
		case "Unknown":
			return terminal.Yellow
		}
	case "VERDICT", "NOW", "THEN":
		first, _, _ := strings.Cut(value, ",")
		return ColorOfVerdict(evaluation.Verdict(first))
	}
	return terminal.None
}

// ColorOfVerdict is the color of a verdict; none for what is no verdict.
func ColorOfVerdict(verdict evaluation.Verdict) terminal.Color {
	switch verdict {
	case evaluation.Satisfied:
		return terminal.Green
	case evaluation.Held:
		return terminal.Yellow
	case evaluation.NotInstalled, evaluation.NotAvailable, evaluation.VersionMismatch, evaluation.VersionUnknown,
		evaluation.APINotServed, evaluation.RequirementNotMet, evaluation.Cycle:
		return terminal.Red
	default:
		return terminal.None
	}
}
