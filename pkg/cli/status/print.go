package status

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

// print prints the rows that a filter has kept, out of so many.
func (o *options) print(rows []Row, all int, now time.Time) error {
	return o.flags.Print(o.Out, rows, func() error {
		if o.flags.Is(output.Name) {
			return printNames(o.Out, rows)
		}
		listed := slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return !o.lists(row) })
		switch {
		case len(listed) > 0:
			if err := o.printRows(listed, now); err != nil {
				return err
			}
		case all > 0:
			fmt.Fprintln(o.ErrOut, o.nothingMatches(all))
		default:
			fmt.Fprintln(o.ErrOut, o.nothingFound())
		}
		return o.printWaits(slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return !o.listsWait(row) }), now)
	})
}

// printRows prints a table of rows with their conditions.
func (o *options) printRows(rows []Row, now time.Time) error {
	heading, cellsOf := Heading, Row.Cells
	if o.flags.Is(output.Wide) {
		heading, cellsOf = WideHeading, Row.WideCells
	}
	installed := o.flags.Is(output.Wide) && slices.ContainsFunc(rows, func(row Row) bool { return row.Installation != nil })
	if installed {
		heading = slices.Concat(heading, []string{"INSTALLATION", "REQUESTED BY"})
	}
	cells := make([][]string, 0, len(rows))
	for _, row := range rows {
		shown := cellsOf(row, now)
		if installed {
			shown = slices.Concat(shown, row.Installation.cells(now))
		}
		cells = append(cells, shown)
	}
	shown := o.flags.Table(o.Out, heading)
	shown.Spare = o.spare()
	return shown.Print(cells)
}

// spare are the columns that a narrow terminal does not show: that of the managed cluster only
// where one is named.
func (f *filter) spare() []string {
	if f.namespace != "" {
		return []string{"MESSAGE", "NAMESPACE", "SINCE"}
	}
	return []string{"MESSAGE", "SINCE"}
}

// printNames prints what kubectl get takes, as kubectl get -o name does.
func printNames(out io.Writer, rows []Row) error {
	for _, row := range rows {
		if _, err := fmt.Fprintf(out, "managedclusteraddon.addon.open-cluster-management.io/%s\n", text.Name(row.Name)); err != nil {
			return err
		}
	}
	return nil
}

// breakable is where a heading of more than one word can have two lines.
var breakable = regexp.MustCompile("([a-z])([A-Z])")

// printSummary prints a column for each verdict that there is, and for those on which all
// depends.
func (o *options) printSummary(found *report.Summary) error {
	out := o.Out
	if _, err := fmt.Fprintf(out, "Dependencies on %s:\n", found.TotalString()); err != nil || len(found.Items) == 0 {
		return errors.Join(err, o.printSummarizedWaits(found))
	}
	verdicts := slices.DeleteFunc(slices.Clone(evaluation.Verdicts), func(verdict evaluation.Verdict) bool {
		return verdict != evaluation.Satisfied && verdict != evaluation.Held &&
			!slices.ContainsFunc(found.Items, func(item report.SummarizedEdge) bool { return item.Verdicts[verdict] > 0 })
	})
	heading := []string{"ADD-ON", "DEPENDENCY", "TYPE"}
	for _, verdict := range verdicts {
		heading = append(heading, strings.ToUpper(breakable.ReplaceAllString(string(verdict), "$1"+table.Break+"$2")))
	}
	rows := make([][]string, 0, len(found.Items))
	for _, item := range found.Items {
		row := []string{item.AddOn, item.Edge, string(item.Type)}
		for _, verdict := range verdicts {
			row = append(row, strconv.Itoa(item.Verdicts[verdict]))
		}
		rows = append(rows, row)
	}
	shown := o.flags.Table(out, heading)
	shown.Spare = []string{"TYPE"}
	if err := shown.Print(rows); err != nil {
		return err
	}
	return o.printSummarizedWaits(found)
}
