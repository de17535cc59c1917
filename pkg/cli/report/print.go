package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	waitingHeading = []string{"CLUSTER", "ADD-ON", "KIND", "RUNS", "WAITING", "SINCE", "WAITS FOR"}
	pendingHeading = []string{"CLUSTER", "ADD-ON", "DEPENDENCY", "THEN", "FOUND"}
)

// printReports prints tables of the edges, of the installations and upgrades that wait, and of the edges that rollouts change.
func (o *options) printReports(found *report.DependencyReports, of *snapshot.Snapshot, cluster string) error {
	out := o.Out
	var rows, waiting, pending [][]string
	left := 0
	for i := range found.Items {
		item := &found.Items[i]
		for j := range item.Edges {
			rows = append(rows, row(item.Name, &item.Edges[j], of.Taken))
		}
		for j := range item.Waiting {
			waiting = append(waiting, waitingRow(item.Name, &item.Waiting[j], of.Taken))
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
	if len(waiting) > 0 {
		fmt.Fprint(out, "\nInstallations and upgrades that wait for dependencies:\n")
		if err := o.printWaiting(waiting, cluster); err != nil {
			return err
		}
	}
	if len(pending) > 0 {
		fmt.Fprint(out, "\nRollouts under way change these:\n")
		if err := o.flags.Table(out, pendingHeading).Print(pending); err != nil {
			return err
		}
	}
	if left > 0 {
		fmt.Fprintln(out)
		fmt.Fprintln(out, terminal.ScreenOf(out).Wrap(fmt.Sprintf("%d entries are left out, because a report has at most %d KiB.", left, report.MaxBytes>>10), 0))
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
	command, screen := "kubectl get addondependencyreports "+which+" -o yaml", terminal.ScreenOf(out)
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

// printWaiting prints the edges that are waited for even where a terminal has no room for all columns.
func (o *options) printWaiting(rows [][]string, cluster string) error {
	shown := o.flags.Table(o.Out, waitingHeading)
	shown.Spare = []string{"SINCE", "KIND", "RUNS"}
	if cluster != "" {
		shown.Spare = append([]string{"CLUSTER"}, shown.Spare...)
	}
	return shown.Print(rows)
}

func waitingRow(cluster string, wait *dependencyv1alpha1.ReportedWait, now time.Time) []string {
	var dependencies []string
	for _, edge := range wait.Dependencies {
		dependencies = append(dependencies, edge.Dependency+": "+edge.Verdict)
	}
	return []string{
		cluster, wait.AddOn, string(wait.Kind), report.Templated(wait.RunningTemplate, wait.RunningVersion),
		report.Templated(wait.Template, wait.Version), age(wait.Since, now), strings.Join(dependencies, ", "),
	}
}

// age is how long ago a time is; empty where it is not known.
func age(since *metav1.Time, now time.Time) string {
	if since == nil {
		return ""
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

func row(cluster string, edge *dependencyv1alpha1.ReportedEdge, now time.Time) []string {
	var causes []string
	for _, cause := range edge.RootCauses {
		causes = append(causes, cause.Target+": "+cmp.Or(cause.Reason, cause.Verdict))
	}
	return []string{cluster, edge.AddOn, edge.Dependency, edge.Type, edge.Verdict, age(edge.Since, now), strings.Join(causes, ", ")}
}

// lostClusters counts the managed clusters that cannot be reached.
func lostClusters(of *snapshot.Snapshot, cluster string) int {
	names := of.Names()
	if cluster != "" {
		names = []string{cluster}
	}
	return len(slices.DeleteFunc(names, func(name string) bool { return !of.Lost(name) }))
}
