package table

import (
	"strings"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// render returns the rows as text. On a screen, they are fitted to its width.
func (t *Table) render(rows [][]string) string {
	screen := terminal.ScreenOf(t.out)
	if screen == (terminal.Screen{}) {
		return t.aligned.String()
	}
	t.measure(rows)
	layout := t.fit(screen.Width)
	var output strings.Builder
	for r, cells := range rows {
		branches := ""
		if t.isTree && r+1 < len(rows) {
			branches = branchesAbove(rows[r+1][0])
		}
		t.renderRow(&output, screen, layout, cells, branches)
	}
	return output.String()
}

// renderRow adds a row with as many lines as its longest cell has. In a tree, the first column has branches in all lines but the
// first.
func (t *Table) renderRow(output *strings.Builder, screen terminal.Screen, layout layout, cells []string, branches string) {
	cellLines, height := make([][]string, len(layout.columns)), 1
	for i, column := range layout.columns {
		cellLines[i] = t.cellLines(column, cells[column], layout.widths[i])
		height = max(height, len(cellLines[i]))
	}
	for n := range height {
		line, pending := "", 0
		for i, column := range layout.columns {
			part := ""
			if n < len(cellLines[i]) {
				part = cellLines[i][n]
			} else if t.isTreeColumn(column) {
				part = terminal.Cut(branches, layout.widths[i])
			}
			if part != "" {
				line += strings.Repeat(" ", pending) + screen.Paint(ColorOf(t.heading[column], cells[column]), part)
				pending = 0
			}
			pending += layout.widths[i] + gap - terminal.Width(part)
		}
		output.WriteString(line + "\n")
	}
}

// cellLines returns the lines of a cell.
func (t *Table) cellLines(column int, content string, width int) []string {
	switch {
	case width >= terminal.Width(plain(content)):
		return []string{plain(content)}
	case t.isTreeColumn(column) || t.isCut(column):
		return []string{terminal.Cut(plain(content), width)}
	case t.Whole:
		return wrap(content, width)
	default:
		return wrapAtMost(content, width, maxLines)
	}
}

// branchesAbove returns the branches of a tree above a line of it, so that no branch is interrupted.
func branchesAbove(line string) string {
	end := strings.IndexFunc(line, func(r rune) bool { return !strings.ContainsRune("│├└─ \u00a0", r) })
	return strings.TrimRight(strings.NewReplacer("├", "│", "└", "│", "─", " ").Replace(line[:max(end, 0)]), " \u00a0")
}

// plain returns a text without Break.
func plain(content string) string { return strings.ReplaceAll(content, Break, "") }

// ColorOf returns the color of a value in a column.
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
	return terminal.NoColor
}

// ColorOfVerdict returns the color of a verdict. It returns NoColor for other texts.
func ColorOfVerdict(verdict evaluation.Verdict) terminal.Color {
	switch verdict {
	case evaluation.Satisfied:
		return terminal.Green
	case evaluation.Held, evaluation.Tolerated, evaluation.Waived:
		return terminal.Yellow
	case evaluation.NotInstalled, evaluation.NotAvailable, evaluation.VersionMismatch, evaluation.VersionUnknown,
		evaluation.APINotServed, evaluation.RequirementNotMet, evaluation.SettingMismatch, evaluation.Conflict,
		evaluation.NoAlternative, evaluation.Cycle:
		return terminal.Red
	default:
		return terminal.NoColor
	}
}
