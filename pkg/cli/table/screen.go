package table

import (
	"strings"
	"unicode/utf8"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// shown are the rows as the output shows them: aligned for no screen, else fitted to it.
func (t *Table) shown(rows [][]string) string {
	screen := terminal.Of(t.out)
	if screen == (terminal.Screen{}) {
		return t.aligned.String()
	}
	t.learn(rows)
	places := t.fit(screen.Width)
	var lines strings.Builder
	for r, cells := range rows {
		below := ""
		if t.drawn && r+1 < len(rows) {
			below = continued(rows[r+1][0])
		}
		t.show(&lines, screen, places, cells, below)
	}
	return lines.String()
}

// show adds a row, in as many lines as its longest cell has. below is what the drawing in the
// first column has beside all but the first line.
func (t *Table) show(lines *strings.Builder, screen terminal.Screen, places layout, cells []string, below string) {
	parts, height := make([][]string, len(places.columns)), 1
	for i, column := range places.columns {
		parts[i] = t.parts(column, cells[column], places.widths[i])
		height = max(height, len(parts[i]))
	}
	for n := range height {
		line, pending := "", 0
		for i, column := range places.columns {
			part := ""
			if n < len(parts[i]) {
				part = parts[i][n]
			} else if t.isDrawn(column) {
				part = text.Cut(below, places.widths[i])
			}
			if part != "" {
				line += strings.Repeat(" ", pending) + screen.Paint(ColorOf(t.heading[column], cells[column]), part)
				pending = 0
			}
			pending += places.widths[i] + gap - utf8.RuneCountInString(part)
		}
		lines.WriteString(line + "\n")
	}
}

// parts are the lines of a cell. Without a width for all, it has one.
func (t *Table) parts(column int, content string, width int) []string {
	switch {
	case width >= utf8.RuneCountInString(plain(content)):
		return []string{plain(content)}
	case t.isDrawn(column) || t.isCut(column):
		return []string{text.Cut(plain(content), width)}
	case t.Whole:
		return shortened(content, width, 0)
	default:
		return shortened(content, width, maxLines)
	}
}

// continued is what a drawing has above one of its lines, so that none is interrupted.
func continued(line string) string {
	end := strings.IndexFunc(line, func(r rune) bool { return !strings.ContainsRune("│├└─ \u00a0", r) })
	return strings.TrimRight(strings.NewReplacer("├", "│", "└", "│", "─", " ").Replace(line[:max(end, 0)]), " \u00a0")
}

// plain is a text without places where it may be broken.
func plain(content string) string { return strings.ReplaceAll(content, Break, "") }

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
	case evaluation.Held, evaluation.Tolerated, evaluation.Waived:
		return terminal.Yellow
	case evaluation.NotInstalled, evaluation.NotAvailable, evaluation.VersionMismatch, evaluation.VersionUnknown,
		evaluation.APINotServed, evaluation.RequirementNotMet, evaluation.SettingMismatch, evaluation.Conflict,
		evaluation.NoAlternative, evaluation.Cycle:
		return terminal.Red
	default:
		return terminal.None
	}
}
