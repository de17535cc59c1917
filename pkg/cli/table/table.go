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

// Table has rows in columns. On a terminal, its verdicts and conditions have colors, and it is
// fitted to the width of the screen: columns are left out, and cells have several lines.
type Table struct {
	// Uncut is whether each row is a single line on a terminal, too, even if the line is longer than the screen is wide.
	Uncut bool
	// Whole is whether cells have as many lines as they need.
	Whole bool
	// Headless is whether the columns have no headings.
	Headless bool
	// Spare are the headings of columns that a terminal too narrow for the last column does
	// not show, in the order in which they are left out.
	Spare   []string
	out     io.Writer
	heading []string
	// headed is whether the heading was printed.
	headed bool
	// isTree is whether the first column is a drawn tree.
	isTree bool
	// columns are the indexes of the columns that a terminal shows. They are chosen with the heading.
	columns []int
	// texts and longest have the distinct cells of each column, and the length of the longest cell.
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

// Print writes a heading and rows, aligned. The text of a cell may be from a foreign source: control characters are removed.
func Print(out io.Writer, heading []string, rows [][]string) error {
	return New(out, heading).Print(rows)
}

// Print writes rows. The heading precedes the first rows. Print sanitizes the cells in place, because a fleet has many.
func (t *Table) Print(rows [][]string) error {
	for _, row := range rows {
		for i, content := range row {
			row[i] = sanitize(content)
		}
	}
	return t.write(rows)
}

// PrintTree is Print with a line of a drawn tree before the cells of each row. The caller sanitizes the names in the tree.
func (t *Table) PrintTree(tree []string, rows [][]string) error {
	t.isTree = true
	safe := make([][]string, len(rows))
	for r, row := range rows {
		safe[r] = []string{tree[r]}
		for _, content := range row {
			safe[r] = append(safe[r], sanitize(content))
		}
	}
	return t.write(safe)
}

// chunkSize is the number of rows that are aligned together. Aligning a row takes several times the memory of its text.
const chunkSize = 1000

func (t *Table) write(rows [][]string) error {
	if len(rows) <= chunkSize || terminal.ScreenOf(t.out) != (terminal.Screen{}) {
		return t.writeChunk(rows)
	}
	// The writer remembers the widths of columns, so the widest cells come first.
	if err := t.align([][]string{widest(rows)}, false); err != nil {
		return err
	}
	for chunk := range slices.Chunk(rows, chunkSize) {
		if err := t.writeChunk(chunk); err != nil {
			return err
		}
	}
	return nil
}

// widest returns a row of the widest cells.
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

func (t *Table) writeChunk(rows [][]string) error {
	if err := t.align(rows, !t.headed && !t.Headless); err != nil {
		return err
	}
	if !t.headed && !t.Headless {
		rows = append([][]string{t.heading}, rows...)
	}
	t.headed = true
	if _, err := io.WriteString(t.out, t.render(rows)); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return nil
}

// sanitize returns the content of a cell in a single line, because the printer would cut a text at its first line break. An empty
// cell is "-", so that scripts can still count the columns.
func sanitize(content string) string {
	if isPlain(content) {
		return content
	}
	return cmp.Or(strings.Join(strings.Fields(text.OneLine(content)), " "), "-")
}

// isPlain reports whether a cell needs no sanitizing, as most do not.
func isPlain(content string) bool {
	last := byte(' ')
	for i := range len(content) {
		if content[i] < ' ' || content[i] > '~' || content[i] == ' ' && last == ' ' {
			return false
		}
		last = content[i]
	}
	return last != ' '
}
