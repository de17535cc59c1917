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

// wait is an installation or upgrade that waits for the same dependencies on several managed clusters.
type wait struct {
	addOn    string
	waits    Waits // since the first of them began
	clusters []string
}

// waitsOf groups the waits of rows, those on most managed clusters first.
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
		group := &all[same]
		group.clusters = append(group.clusters, row.Namespace)
		if row.Waits.Since.Before(group.waits.Since) {
			group.waits.Since = row.Waits.Since
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

// printWaits prints a table of the waits of rows, if there are any.
func (o *options) printWaits(rows []Row, now time.Time) error {
	var cells [][]string
	for _, group := range waitsOf(rows) {
		cells = append(cells, []string{
			group.addOn, string(group.waits.Kind), group.waits.RunningTemplate, group.waits.Template, age(group.waits.Since, now),
			o.counted(group.clusters), group.waits.Message,
		})
	}
	return o.printWaiting([]string{"ADD-ON", "KIND", "RUNS", "WAITING", "SINCE", "CLUSTERS", "WAITS FOR"}, cells)
}

// printSummarizedWaits prints a table of the waits of the fleet, if there are any.
func (o *options) printSummarizedWaits(summary *report.Summary) error {
	var cells [][]string
	for _, wait := range summary.Waiting {
		var dependencies []string
		for _, name := range slices.Sorted(maps.Keys(wait.Dependencies)) {
			dependencies = append(dependencies, fmt.Sprintf("%s (%d)", name, wait.Dependencies[name]))
		}
		cells = append(cells, []string{
			wait.AddOn, string(wait.Kind), report.Templated(wait.Template, wait.Version), age(wait.Since, summary.Taken), o.counted(wait.Clusters),
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
