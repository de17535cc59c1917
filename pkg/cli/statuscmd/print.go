package statuscmd

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// print prints the rows that the filter keeps. total is the number of rows before the filter.
func (o *options) print(rows []Row, total int, readTime time.Time) error {
	return o.flags.Print(o.Out, rows, func() error {
		if o.flags.Is(output.Name) {
			return printNames(o.Out, rows)
		}
		listed := slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return !o.lists(row) })
		switch {
		case o.waiting && len(rows) > 0: // they are in the table of waits
		case len(listed) > 0:
			if err := o.printRows(listed, readTime); err != nil {
				return err
			}
		case total > 0:
			fmt.Fprintln(o.ErrOut, o.noMatchMessage(total))
		default:
			fmt.Fprintln(o.ErrOut, o.emptyMessage())
		}
		return o.printWaits(slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return !o.listsWait(row) }), readTime)
	})
}

// printRows prints a table of rows with their conditions.
func (o *options) printRows(rows []Row, readTime time.Time) error {
	heading, cellsOf := Heading, Row.Cells
	if o.flags.Is(output.Wide) {
		heading, cellsOf = WideHeading, Row.WideCells
	}
	hasInstallations := o.flags.Is(output.Wide) && slices.ContainsFunc(rows, func(row Row) bool { return row.Installation != nil })
	if hasInstallations {
		heading = slices.Concat(heading, []string{"INSTALLATION", "REQUESTED BY"})
	}
	cells := make([][]string, 0, len(rows))
	for _, row := range rows {
		rowCells := cellsOf(row, readTime)
		if hasInstallations {
			rowCells = slices.Concat(rowCells, row.Installation.cells(readTime))
		}
		cells = append(cells, rowCells)
	}
	table := o.flags.Table(o.Out, heading)
	table.Spare = o.spareColumns()
	return table.Print(cells)
}

// spareColumns returns the columns that a narrow terminal does not show. The column of the managed cluster is spare if the user named
// the cluster.
func (f *filter) spareColumns() []string {
	if f.namespace != "" {
		return []string{"MESSAGE", "NAMESPACE", "SINCE"}
	}
	return []string{"MESSAGE", "SINCE"}
}

// printNames prints arguments for kubectl get, as kubectl get -o name does.
func printNames(out io.Writer, rows []Row) error {
	for _, row := range rows {
		if _, err := fmt.Fprintf(out, "managedclusteraddon.addon.open-cluster-management.io/%s\n", text.Name(row.Name)); err != nil {
			return err
		}
	}
	return nil
}

// wordBoundary is a position in a heading of several words at which it can be broken.
var wordBoundary = regexp.MustCompile("([a-z])([A-Z])")

// printSummary prints columns for Satisfied and Held, and for each other verdict that an edge has.
func (o *options) printSummary(summary *report.Summary) error {
	out := o.Out
	if _, err := fmt.Fprintf(out, "Dependencies on %s:\n", summary.TotalString()); err != nil || len(summary.Items) == 0 {
		return errors.Join(err, o.printSummarizedWaits(summary))
	}
	verdicts := slices.DeleteFunc(slices.Clone(evaluation.Verdicts), func(verdict evaluation.Verdict) bool {
		return verdict != evaluation.Satisfied && verdict != evaluation.Held &&
			!slices.ContainsFunc(summary.Items, func(item report.SummarizedEdge) bool { return item.Verdicts[verdict] > 0 })
	})
	heading := []string{"ADD-ON", "DEPENDENCY", "TYPE"}
	for _, verdict := range verdicts {
		heading = append(heading, strings.ToUpper(wordBoundary.ReplaceAllString(string(verdict), "$1"+table.Break+"$2")))
	}
	rows := make([][]string, 0, len(summary.Items))
	for _, item := range summary.Items {
		row := []string{item.AddOn, item.Edge, string(item.Type)}
		for _, verdict := range verdicts {
			row = append(row, strconv.Itoa(item.Verdicts[verdict]))
		}
		rows = append(rows, row)
	}
	summaryTable := o.flags.Table(out, heading)
	summaryTable.Spare = []string{"TYPE"}
	if err := summaryTable.Print(rows); err != nil {
		return err
	}
	return o.printSummarizedWaits(summary)
}
