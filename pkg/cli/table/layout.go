package table

import (
	"slices"
	"unicode/utf8"
)

const (
	// gap is between columns, and narrow is the least width with it, as kubectl has them.
	gap    = 3
	narrow = 6
	// least is how much room the last column should have: a reason in two parts.
	least = 24
	// scant is still readable.
	scant = 8
	// maxLines is how many lines a cell has at most, unless the table is Whole.
	maxLines = 6
	// wholeLines is how many the cells of a Whole table have, where more would not make it fit.
	wholeLines = 20
)

// layout is where the columns of a table are on a screen.
type layout struct {
	// columns are those that are shown, by their places, and widths theirs without gaps.
	columns, widths []int
}

// learn keeps what the columns have, for rows that come later, too.
func (t *Table) learn(rows [][]string) {
	if t.texts == nil {
		t.texts, t.longest = make([]map[string]bool, len(t.heading)), make([]int, len(t.heading))
		for i := range t.texts {
			t.texts[i] = map[string]bool{}
		}
	}
	for _, cells := range rows {
		for i, content := range cells {
			t.texts[i][content] = true
			t.longest[i] = max(t.longest[i], utf8.RuneCountInString(plain(content)), narrow-gap)
		}
	}
}

// fit finds the layout for a screen: without spare columns that have no room, and with cells
// in as few lines as possible.
func (t *Table) fit(screen int) layout {
	columns := t.columns
	if columns == nil { // rows that come later have the columns of the heading
		columns = t.fitting(screen)
		t.columns = columns
	}
	found := layout{columns: columns, widths: t.natural(columns)}
	if screen == 0 || t.Uncut || sum(found.widths) <= screen {
		return found
	}
	for lines := 1; lines <= t.lines(); lines++ {
		widths := t.needed(columns, lines)
		if sum(widths) <= screen {
			t.spread(columns, widths, screen)
			return layout{columns, widths}
		}
	}
	return layout{columns, t.cutting(columns, screen)}
}

// lines is how many lines a cell has at most.
func (t *Table) lines() int {
	if t.Whole {
		return wholeLines
	}
	return maxLines
}

// fitting are the columns that are shown: all, but for spare ones on a screen that is too
// narrow.
func (t *Table) fitting(screen int) []int {
	columns := make([]int, len(t.heading))
	for i := range columns {
		columns[i] = i
	}
	if screen == 0 || t.Uncut {
		return columns
	}
	for _, spare := range t.Spare {
		widths := t.natural(columns)
		last := len(widths) - 1
		widths[last] = min(widths[last], least)
		if sum(widths) <= screen {
			break
		}
		columns = slices.DeleteFunc(columns, func(column int) bool { return plain(t.heading[column]) == spare })
	}
	return columns
}

// natural are the widths of columns whose cells have one line.
func (t *Table) natural(columns []int) []int {
	widths := make([]int, len(columns))
	for i, column := range columns {
		widths[i] = t.longest[column]
	}
	return widths
}

// needed are the widths of columns whose cells have so many lines at most. What is drawn has
// one.
func (t *Table) needed(columns []int, lines int) []int {
	widths := t.natural(columns)
	for i, column := range columns {
		switch {
		case t.isCut(column):
			widths[i] = min(widths[i], least)
		case !t.isDrawn(column):
			widths[i] = narrowest(t.texts[column], lines, widths[i])
		}
	}
	return widths
}

// spread gives the room that is left to columns that need no more than it to have one line,
// and what remains to the last one.
func (t *Table) spread(columns, widths []int, screen int) {
	left := screen - sum(widths)
	for i, column := range columns {
		if more := t.longest[column] - widths[i]; more <= left {
			widths[i] += more
			left -= more
		}
	}
	last := len(widths) - 1
	widths[last] = min(t.longest[columns[last]], widths[last]+left)
}

// cutting are widths for a screen where not all cells can be whole: the last column takes
// what the others leave, and they are as narrow as it needs.
func (t *Table) cutting(columns []int, screen int) []int {
	last := len(columns) - 1
	for lines := 1; lines <= maxLines; lines++ {
		widths := t.needed(columns, lines)
		widths[last] = 0
		if room := screen - sum(widths); room >= min(least, t.longest[columns[last]]) {
			widths[last] = min(room, t.longest[columns[last]])
			return widths
		}
	}
	widths := t.needed(columns, maxLines)
	widths[last] = min(widths[last], scant)
	for sum(widths) > screen {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= scant {
			break
		}
		widths[widest]--
	}
	return widths
}

// isCut reports whether a column is cut rather than wrapped: a spare one is not worth a line.
func (t *Table) isCut(column int) bool { return slices.Contains(t.Spare, plain(t.heading[column])) }

// isDrawn reports whether a column is a drawing.
func (t *Table) isDrawn(column int) bool { return t.drawn && column == 0 }

// sum is how wide columns are together.
func sum(widths []int) int {
	all := gap * (len(widths) - 1)
	for _, width := range widths {
		all += width
	}
	return all
}
