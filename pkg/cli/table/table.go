// Package table prints rows in columns the way kubectl does.
package table

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"open-cluster-management.io/interlock/pkg/text"
)

// Print writes a heading and rows, aligned. The text of a cell may be foreign: it cannot
// control the terminal.
func Print(out io.Writer, heading []string, rows [][]string) error {
	table := &metav1.Table{}
	for _, name := range heading {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	for _, row := range rows {
		cells := make([]any, len(row))
		for i, content := range row {
			cells[i] = cell(content)
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	// The printer drops the errors of a writer that it has to make itself.
	writer := printers.GetNewTabWriter(out)
	if err := printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, writer); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	if err := writer.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return nil
}

// cell is one line, because the printer would cut a text at its first line break.
// An empty cell is "-", so that scripts can still count the columns.
func cell(content string) string {
	return cmp.Or(strings.Join(strings.Fields(text.OneLine(content)), " "), "-")
}
