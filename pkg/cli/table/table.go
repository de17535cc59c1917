// Package table prints rows in columns the way kubectl does.
package table

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/text"
)

// Table is rows in columns. On a terminal, its verdicts and conditions have colors, and it is
// fitted to the width of the screen: columns are left out, and cells have several lines.
type Table struct {
	// Uncut: each row is one line on a terminal, too, however long it is.
	Uncut bool
	// Whole: cells have as many lines as they need.
	Whole bool
	// Headless: the columns have no headings.
	Headless bool
	// Spare are the headings of columns that a terminal too narrow for the last column does
	// not show, in the order in which they are left out.
	Spare   []string
	out     io.Writer
	heading []string
	headed  bool
	drawn   bool  // the first column is a drawing
	columns []int // those that a terminal shows; nil before the heading
	texts   []map[string]bool
	longest []int
	aligned bytes.Buffer
	writer  writer
}

// writer aligns columns.
type writer interface {
	io.Writer
	Flush() error
}

// New returns a table without rows.
func New(out io.Writer, heading []string) *Table {
	t := &Table{out: out, heading: heading}
	t.writer = printers.GetNewTabWriter(&t.aligned)
	return t
}

// Print writes a heading and rows, aligned. The text of a cell may be foreign: it cannot
// control the terminal.
func Print(out io.Writer, heading []string, rows [][]string) error {
	return New(out, heading).Print(rows)
}

// Print writes rows, below the heading if they are the first ones. It makes the cells safe
// where they are: a fleet has many.
func (t *Table) Print(rows [][]string) error {
	for _, row := range rows {
		for i, content := range row {
			row[i] = cell(content)
		}
	}
	return t.write(rows)
}

// PrintTree is Print with one line of a drawn tree before the cells of each row. The names
// in the tree must be safe already.
func (t *Table) PrintTree(tree []string, rows [][]string) error {
	t.drawn = true
	safe := make([][]string, len(rows))
	for r, row := range rows {
		safe[r] = []string{tree[r]}
		for _, content := range row {
			safe[r] = append(safe[r], cell(content))
		}
	}
	return t.write(safe)
}

// atOnce is how many rows are aligned at once: each takes several times the memory of its text
// meanwhile.
const atOnce = 1000

func (t *Table) write(rows [][]string) error {
	if len(rows) <= atOnce || terminal.Of(t.out) != (terminal.Screen{}) {
		return t.writeSome(rows)
	}
	// The writer remembers the widths of columns, so the widest cells come first.
	if err := t.align([][]string{widest(rows)}, false); err != nil {
		return err
	}
	for some := range slices.Chunk(rows, atOnce) {
		if err := t.writeSome(some); err != nil {
			return err
		}
	}
	return nil
}

// widest returns a row whose cells are as wide as the widest ones.
func widest(rows [][]string) []string {
	cells := make([]string, len(rows[0]))
	for _, row := range rows {
		for i, content := range row {
			if utf8.RuneCountInString(content) > utf8.RuneCountInString(cells[i]) {
				cells[i] = content
			}
		}
	}
	return cells
}

// align fills the buffer with aligned rows.
func (t *Table) align(rows [][]string, heading bool) error {
	table := &metav1.Table{}
	for _, name := range t.heading {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: plain(name), Type: "string"})
	}
	for _, row := range rows {
		cells := make([]any, len(row))
		for i, content := range row {
			cells[i] = content
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	t.aligned.Reset()
	if err := printers.NewTablePrinter(printers.PrintOptions{NoHeaders: !heading}).PrintObj(table, t.writer); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	if err := t.writer.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return nil
}

func (t *Table) writeSome(rows [][]string) error {
	if err := t.align(rows, !t.headed && !t.Headless); err != nil {
		return err
	}
	if !t.headed && !t.Headless {
		rows = append([][]string{t.heading}, rows...)
	}
	t.headed = true
	if _, err := io.WriteString(t.out, t.shown(rows)); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return nil
}

// cell is one line, because the printer would cut a text at its first line break.
// An empty cell is "-", so that scripts can still count the columns.
func cell(content string) string {
	if isPlain(content) {
		return content
	}
	return cmp.Or(strings.Join(strings.Fields(text.OneLine(content)), " "), "-")
}

// isPlain reports whether a cell can stay as it is: most can.
func isPlain(content string) bool {
	before := byte(' ')
	for i := range len(content) {
		if content[i] < ' ' || content[i] > '~' || content[i] == ' ' && before == ' ' {
			return false
		}
		before = content[i]
	}
	return before != ' '
}
