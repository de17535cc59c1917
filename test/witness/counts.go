package witness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Count is the number of writes of one writer to one object.
type Count struct {
	Object Object
	Writer Writer
	// Writes are all requests that the API server accepted. Unchanged are those Writes that changed nothing. Refused
	// are not part of Writes.
	Writes, Unchanged, Refused int
	// Moves are changes of Available or Degraded (status or reason), and of labels.
	Moves, Labels int
	// StockTrues set Available beside a failing Required dependency.
	StockTrues int
}

// Counts are the counts of a period, by object and writer.
type Counts struct {
	Duration time.Duration
	Rows     []Count

	labels map[Scope]int
}

// LabelMoves returns how often the label of an add-on on a cluster moved.
func (c Counts) LabelMoves(cluster, addOn string) int { return c.labels[AddOn(cluster, addOn)] }

func count(writes []Write, p period) Counts {
	type key struct {
		object Object
		writer Writer
	}
	rows, labels := map[key]Count{}, map[Scope]int{}
	for _, w := range writes {
		if !p.contains(w.Time) {
			continue
		}
		key := key{w.Object, w.Writer}
		row := rows[key]
		row.Object, row.Writer = w.Object, w.Writer
		row.add(w)
		rows[key] = row
		for _, m := range w.moves() {
			if m.kind == LabelMoved {
				labels[m.scope]++
			}
		}
	}
	counts := Counts{Duration: p.end.Sub(p.start), Rows: slices.Collect(maps.Values(rows)), labels: labels}
	slices.SortFunc(counts.Rows, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Object.String(), b.Object.String()), cmp.Compare(a.Writer.String(), b.Writer.String()))
	})
	return counts
}

func (c *Count) add(w Write) {
	if w.Refused {
		c.Refused++
		return
	}
	c.Writes++
	if w.Unchanged() {
		c.Unchanged++
	}
	if isStockTrue(w) {
		c.StockTrues++
	}
	for _, m := range w.moves() {
		if m.kind == Flip {
			c.Moves++
		} else {
			c.Labels++
		}
	}
}

// Answers returns how often Interlock stored another state.
func (c Counts) Answers() int {
	sum := 0
	for _, row := range c.Rows {
		if row.Writer.Interlock() {
			sum += row.Writes - row.Unchanged
		}
	}
	return sum
}

// Interlock returns how often Interlock wrote or tried to write.
func (c Counts) Interlock() int {
	sum := 0
	for _, row := range c.Rows {
		if row.Writer.Interlock() {
			sum += row.Writes + row.Refused
		}
	}
	return sum
}

// ForAddOn returns the rows of the ManagedClusterAddOn of an add-on on a cluster.
func (c Counts) ForAddOn(cluster, addOn string) Counts {
	rows := slices.Clone(c.Rows)
	rows = slices.DeleteFunc(rows, func(row Count) bool { return row.Object != Object{addOns, cluster, addOn} })
	return Counts{c.Duration, rows, c.labels}
}

// Sum adds up a column.
func (c Counts) Sum(column func(Count) int) int {
	sum := 0
	for _, row := range c.Rows {
		sum += column(row)
	}
	return sum
}

// String returns a table for people to read.
func (c Counts) String() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(cells ...any) { _, _ = fmt.Fprintf(table, strings.Repeat("%v\t", len(cells)-1)+"%v\n", cells...) }
	line("object", "writer", "writes", "unchanged", "refused", "condition moves", "label moves")
	for _, row := range c.Rows {
		line(row.Object, row.Writer, row.Writes, row.Unchanged, row.Refused, row.Moves, row.Labels)
	}
	_ = table.Flush() // into memory
	return text.String()
}
