package table

import (
	"slices"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
)

const (
	// gap is the gap between columns, as in tables of kubectl.
	gap = 3
	// minColumn is the smallest width of a column, with its gap, as in tables of kubectl.
	minColumn = 6
	// lastColumn is the width that the last column should have: it has room for a reason in two parts.
	lastColumn = 24
	// minReadable is the smallest width that is still readable.
	minReadable = 8
	// maxLines is the largest number of lines of a cell, unless the table is Whole.
	maxLines = 6
	// wholeLines is the largest number of lines with which a Whole table is fitted to a screen.
	wholeLines = 20
)

// layout has the columns of a table that a screen shows.
type layout struct {
	// columns are the indexes of the columns. widths are their widths without gaps.
	columns, widths []int
}

// measure remembers the cells of each column, because later rows have the same columns.
func (t *Table) measure(rows [][]string) {
	if t.texts == nil {
		t.texts, t.longest = make([]map[string]bool, len(t.heading)), make([]int, len(t.heading))
		for i := range t.texts {
			t.texts[i] = map[string]bool{}
		}
	}
	for _, cells := range rows {
		for i, content := range cells {
			t.texts[i][content] = true
			t.longest[i] = max(t.longest[i], terminal.Width(plain(content)), minColumn-gap)
		}
	}
}

// fit returns the layout for a screen. It leaves out spare columns that have no room. Its cells have as few lines as possible.
func (t *Table) fit(screen int) layout {
	columns := t.columns
	if columns == nil { // Later rows have the columns of the heading.
		columns = t.visibleColumns(screen)
		t.columns = columns
	}
	unwrapped := layout{columns: columns, widths: t.naturalWidths(columns)}
	if screen == 0 || t.Uncut || totalWidth(unwrapped.widths) <= screen {
		return unwrapped
	}
	for lines := 1; lines <= t.maxLines(); lines++ {
		widths := t.wrappedWidths(columns, lines)
		if totalWidth(widths) <= screen {
			t.widen(columns, widths, screen)
			return layout{columns, widths}
		}
	}
	return layout{columns, t.cutWidths(columns, screen)}
}

// maxLines returns the largest number of lines of a cell.
func (t *Table) maxLines() int {
	if t.Whole {
		return wholeLines
	}
	return maxLines
}

// visibleColumns returns the columns for a screen. If the screen is too narrow, it leaves out spare columns.
func (t *Table) visibleColumns(screen int) []int {
	columns := make([]int, len(t.heading))
	for i := range columns {
		columns[i] = i
	}
	if screen == 0 || t.Uncut {
		return columns
	}
	for _, spare := range t.Spare {
		widths := t.naturalWidths(columns)
		last := len(widths) - 1
		widths[last] = min(widths[last], lastColumn)
		if totalWidth(widths) <= screen {
			break
		}
		columns = slices.DeleteFunc(columns, func(column int) bool { return plain(t.heading[column]) == spare })
	}
	return columns
}

// naturalWidths returns the widths of columns whose cells have a single line.
func (t *Table) naturalWidths(columns []int) []int {
	widths := make([]int, len(columns))
	for i, column := range columns {
		widths[i] = t.longest[column]
	}
	return widths
}

// wrappedWidths returns the widths of columns whose cells have at most the number of lines. A tree has a single line.
func (t *Table) wrappedWidths(columns []int, lines int) []int {
	widths := t.naturalWidths(columns)
	for i, column := range columns {
		switch {
		case t.isCut(column):
			widths[i] = min(widths[i], lastColumn)
		case !t.isTreeColumn(column):
			widths[i] = narrowest(t.texts[column], lines, widths[i])
		}
	}
	return widths
}

// widen distributes the free room of a screen. It widens each column whose cells then have a single line. The last column gets the
// rest.
func (t *Table) widen(columns, widths []int, screen int) {
	room := screen - totalWidth(widths)
	for i, column := range columns {
		if missing := t.longest[column] - widths[i]; missing <= room {
			widths[i] += missing
			room -= missing
		}
	}
	last := len(widths) - 1
	widths[last] = min(t.longest[columns[last]], widths[last]+room)
}

// cutWidths returns widths for a screen that is too narrow for all cells. It gives the other columns more lines until the last column
// has enough room. If six lines are not enough, it narrows the widest columns.
func (t *Table) cutWidths(columns []int, screen int) []int {
	last := len(columns) - 1
	for lines := 1; lines <= maxLines; lines++ {
		widths := t.wrappedWidths(columns, lines)
		widths[last] = 0
		if room := screen - totalWidth(widths); room >= min(lastColumn, t.longest[columns[last]]) {
			widths[last] = min(room, t.longest[columns[last]])
			return widths
		}
	}
	widths := t.wrappedWidths(columns, maxLines)
	widths[last] = min(widths[last], minReadable)
	for totalWidth(widths) > screen {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= minReadable {
			break
		}
		widths[widest]--
	}
	return widths
}

// isCut reports whether a column is cut instead of wrapped. A spare column is not worth a second line.
func (t *Table) isCut(column int) bool { return slices.Contains(t.Spare, plain(t.heading[column])) }

// isTreeColumn reports whether a column is a drawn tree.
func (t *Table) isTreeColumn(column int) bool { return t.isTree && column == 0 }

// totalWidth returns the width of all columns together, with their gaps.
func totalWidth(widths []int) int {
	total := gap * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	return total
}
