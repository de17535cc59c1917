package statuscmd

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

// maxClusters is the largest number of managed clusters that a line names.
const maxClusters = 3

// waitGroup is an installation or upgrade that waits for the same dependencies on several managed clusters.
type waitGroup struct {
	addOn    string
	waits    Waits // since the first wait began
	clusters []string
}

// groupWaits groups the waits of rows. Waits on most managed clusters come first.
func groupWaits(rows []Row) []waitGroup {
	var groups []waitGroup
	for _, row := range rows {
		if !row.Waiting() {
			continue
		}
		index := slices.IndexFunc(groups, func(group waitGroup) bool {
			return group.addOn == row.Name && group.waits.equalExceptSince(row.Waits)
		})
		if index < 0 {
			index = len(groups)
			groups = append(groups, waitGroup{addOn: row.Name, waits: row.Waits})
		}
		group := &groups[index]
		group.clusters = append(group.clusters, row.Namespace)
		if row.Waits.Since.Before(group.waits.Since) {
			group.waits.Since = row.Waits.Since
		}
	}
	slices.SortStableFunc(groups, func(a, b waitGroup) int {
		return cmp.Or(cmp.Compare(len(b.clusters), len(a.clusters)), cmp.Compare(a.addOn, b.addOn))
	})
	return groups
}

func (w Waits) equalExceptSince(b Waits) bool {
	b.Since = w.Since
	return w == b
}

// printWaits prints a table of the waits of rows, if there are any.
func (o *options) printWaits(rows []Row, readTime time.Time) error {
	var cells [][]string
	for _, group := range groupWaits(rows) {
		cells = append(cells, []string{
			group.addOn, string(group.waits.Kind), group.waits.RunningTemplate, group.waits.Template, age(group.waits.Since, readTime),
			o.clusterCell(group.clusters), group.waits.Message,
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
			wait.AddOn, string(wait.Kind), report.Templated(wait.Template, wait.Version), age(wait.Since, summary.Taken),
			o.clusterCell(wait.Clusters), strings.Join(dependencies, ", "),
		})
	}
	return o.printWaiting([]string{"ADD-ON", "KIND", "WAITING", "SINCE", "CLUSTERS", "WAITS FOR"}, cells)
}

// printWaiting prints a table, if it has rows.
func (o *options) printWaiting(heading []string, cells [][]string) error {
	if len(cells) == 0 {
		return nil
	}
	if !o.waiting {
		fmt.Fprint(o.Out, "\nInstallations and upgrades that wait for dependencies:\n")
	}
	table := o.flags.Table(o.Out, heading)
	table.Spare = []string{"SINCE", "RUNS", "KIND"}
	return table.Print(cells)
}

// clusterCell returns the number of managed clusters, and the names of the first clusters, or of all in a wide table.
func (o *options) clusterCell(clusters []string) string {
	names := clusters
	if len(names) > maxClusters && !o.flags.Is(output.Wide) {
		names = append(slices.Clone(names[:maxClusters]), "…")
	}
	return fmt.Sprintf("%d: %s", len(clusters), strings.Join(names, ", "))
}
