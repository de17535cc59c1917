package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

var (
	heading        = []string{"CLUSTER", "ADD-ON", "DEPENDENCY", "TYPE", "VERDICT", "SINCE", "ROOT CAUSE"}
	pendingHeading = []string{"CLUSTER", "ADD-ON", "DEPENDENCY", "THEN", "FOUND"}
)

// printReports prints a table of the edges, and one of those that rollouts change.
func (o *options) printReports(found *report.DependencyReports, of *snapshot.Snapshot, cluster string) error {
	out := o.Out
	var rows, pending [][]string
	left := 0
	for i := range found.Items {
		item := &found.Items[i]
		for j := range item.Edges {
			rows = append(rows, row(item.Name, &item.Edges[j], of.Taken))
		}
		for _, edge := range item.Pending {
			pending = append(pending, []string{item.Name, edge.AddOn, edge.Dependency, edge.Verdict, edge.Found})
		}
		left += int(item.Summary.LeftOut)
	}
	if len(rows) == 0 {
		fmt.Fprintln(out, "No dependency is known to be unsatisfied.")
	} else if err := o.printEdges(rows, cluster); err != nil {
		return err
	}
	if len(pending) > 0 {
		fmt.Fprint(out, "\nRollouts under way change these:\n")
		if err := o.flags.Table(out, pendingHeading).Print(pending); err != nil {
			return err
		}
	}
	if left > 0 {
		fmt.Fprintln(out)
		fmt.Fprintln(out, terminal.Of(out).Wrap(fmt.Sprintf("%d entries are left out, because a report has at most %d KiB.", left, report.MaxBytes>>10), 0))
	}
	return nil
}

// printNames prints what kubectl get takes: the reports of addon-manager have the same names.
func printNames(out io.Writer, found *report.DependencyReports) error {
	for i := range found.Items {
		if _, err := fmt.Fprintf(out, "addondependencyreport.%s/%s\n", dependencyv1alpha1.GroupVersion.Group, text.Name(found.Items[i].Name)); err != nil {
			return err
		}
	}
	return nil
}

// printLost prints a command for the last verdicts on managed clusters that cannot be reached.
func (o *options) printLost(out io.Writer, of *snapshot.Snapshot, cluster string) {
	lost := lostClusters(of, cluster)
	if lost == 0 {
		return
	}
	which := "-A"
	if cluster != "" && len(validation.IsDNS1123Subdomain(cluster)) == 0 {
		which = cluster + " -n " + cluster
	}
	command, screen := "kubectl get addondependencyreports "+which+" -o yaml", terminal.Of(out)
	fmt.Fprintln(out)
	fmt.Fprintln(out, screen.Wrap(fmt.Sprintf("Managed clusters that cannot be reached, so their verdicts are held: %d", lost), 0))
	fmt.Fprintln(out, screen.Wrap("The last ones are not known here. They are in the reports on the hub, where addon-manager runs with --reports:", 0))
	if note := o.source.Note(command); note != "" {
		fmt.Fprintln(out, "note "+screen.Wrap(note, len("note ")))
	}
	fmt.Fprintf(out, "run  %s\n", o.source.Command(command))
}

// printEdges prints the cause of each edge even where a terminal has no room for all columns.
func (o *options) printEdges(rows [][]string, cluster string) error {
	shown := o.flags.Table(o.Out, heading)
	shown.Spare = []string{"SINCE", "TYPE", "VERDICT"}
	if cluster != "" {
		shown.Spare = append([]string{"CLUSTER"}, shown.Spare...)
	}
	return shown.Print(rows)
}

func row(cluster string, edge *dependencyv1alpha1.ReportedEdge, now time.Time) []string {
	since := ""
	if edge.Since != nil {
		since = duration.HumanDuration(now.Sub(edge.Since.Time))
	}
	var causes []string
	for _, cause := range edge.RootCauses {
		causes = append(causes, cause.Target+": "+cmp.Or(cause.Reason, cause.Verdict))
	}
	return []string{cluster, edge.AddOn, edge.Dependency, edge.Type, edge.Verdict, since, strings.Join(causes, ", ")}
}

// lostClusters counts the managed clusters that cannot be reached.
func lostClusters(of *snapshot.Snapshot, cluster string) int {
	names := of.Names()
	if cluster != "" {
		names = []string{cluster}
	}
	return len(slices.DeleteFunc(names, func(name string) bool { return !of.Lost(name) }))
}
