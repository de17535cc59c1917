package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/report"
)

// maxClusters is how many managed clusters a line names.
const maxClusters = 3

// wait is what waits for the same, on all managed clusters where it does.
type wait struct {
	addOn    string
	waits    Waits // since the first of them began
	clusters []string
}

// waitsOf are what waits in rows, those on most managed clusters first.
func waitsOf(rows []Row) []wait {
	var all []wait
	for _, row := range rows {
		if !row.Waiting() {
			continue
		}
		same := slices.IndexFunc(all, func(other wait) bool { return other.addOn == row.Name && other.waits.same(row.Waits) })
		if same < 0 {
			same = len(all)
			all = append(all, wait{addOn: row.Name, waits: row.Waits})
		}
		one := &all[same]
		one.clusters = append(one.clusters, row.Namespace)
		if row.Waits.Since.Before(one.waits.Since) {
			one.waits.Since = row.Waits.Since
		}
	}
	slices.SortStableFunc(all, func(a, b wait) int {
		return cmp.Or(cmp.Compare(len(b.clusters), len(a.clusters)), cmp.Compare(a.addOn, b.addOn))
	})
	return all
}

// same reports whether another wait differs in its beginning only.
func (w Waits) same(other Waits) bool {
	other.Since = w.Since
	return w == other
}

// printWaits prints a table of what waits in rows, if anything does.
func (o *options) printWaits(rows []Row, now time.Time) error {
	var cells [][]string
	for _, one := range waitsOf(rows) {
		cells = append(cells, []string{
			one.addOn, string(one.waits.Kind), one.waits.RunningTemplate, one.waits.Template, age(one.waits.Since, now),
			o.counted(one.clusters), one.waits.Message,
		})
	}
	return o.printWaiting([]string{"ADD-ON", "KIND", "RUNS", "WAITING", "SINCE", "CLUSTERS", "WAITS FOR"}, cells)
}

// printSummarizedWaits prints a table of what waits in the fleet, if anything does.
func (o *options) printSummarizedWaits(found *report.Summary) error {
	var cells [][]string
	for _, one := range found.Waiting {
		var dependencies []string
		for _, name := range slices.Sorted(maps.Keys(one.Dependencies)) {
			dependencies = append(dependencies, fmt.Sprintf("%s (%d)", name, one.Dependencies[name]))
		}
		cells = append(cells, []string{
			one.AddOn, string(one.Kind), report.Templated(one.Template, one.Version), age(one.Since, found.Taken), o.counted(one.Clusters),
			strings.Join(dependencies, ", "),
		})
	}
	return o.printWaiting([]string{"ADD-ON", "KIND", "WAITING", "SINCE", "CLUSTERS", "WAITS FOR"}, cells)
}

// printWaiting prints a table, if it has rows.
func (o *options) printWaiting(heading []string, cells [][]string) error {
	if len(cells) == 0 {
		return nil
	}
	fmt.Fprint(o.Out, "\nInstallations and upgrades that wait for dependencies:\n")
	shown := o.flags.Table(o.Out, heading)
	shown.Spare = []string{"SINCE", "RUNS", "KIND"}
	return shown.Print(cells)
}

// counted counts managed clusters, and names the first ones, or all of them in a wide table.
func (o *options) counted(clusters []string) string {
	named := clusters
	if len(named) > maxClusters && !o.flags.Is(output.Wide) {
		named = append(slices.Clone(named[:maxClusters]), "…")
	}
	return fmt.Sprintf("%d: %s", len(clusters), strings.Join(named, ", "))
}
