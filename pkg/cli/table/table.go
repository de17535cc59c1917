// Package table prints rows in columns the way kubectl does.
package table

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// Print writes a heading and rows, aligned. An empty cell is shown as "-", so
// that the columns after it can still be told apart by a script.
func Print(out io.Writer, heading []string, rows [][]string) error {
	writer := printers.GetNewTabWriter(out)
	for _, row := range append([][]string{heading}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.Join(strings.Fields(cell), " ")
			if cell == "" {
				cells[i] = "-"
			}
		}
		if _, err := fmt.Fprintln(writer, strings.Join(cells, "\t")); err != nil {
			return fmt.Errorf("print table: %w", err)
		}
	}
	return writer.Flush()
}
