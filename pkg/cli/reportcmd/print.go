package reportcmd

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

// undeclared stands for the dependencies of an add-on whose declaration is not known.
const undeclared = "(not known)"

// printReports prints tables of the edges, of the waiting installations and upgrades, and of the edges that rollouts change.
func (o *options) printReports(reports *report.DependencyReports, fleet *snapshot.Snapshot, cluster string) error {
	out := o.Out
	var rows, waiting, pending [][]string
	leftOut := 0
	for i := range reports.Items {
		item := &reports.Items[i]
		for j := range item.Edges {
			rows = append(rows, row(item.Name, &item.Edges[j], fleet.Taken))
		}
		for j := range item.Waiting {
			waiting = append(waiting, waitingRow(item.Name, &item.Waiting[j], fleet.Taken))
		}
		for _, edge := range item.Pending {
			pending = append(pending, []string{item.Name, edge.AddOn, edge.Dependency, edge.Verdict, edge.Found})
		}
		leftOut += int(item.Summary.LeftOut)
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
	if leftOut > 0 {
		fmt.Fprintln(out)
		line := fmt.Sprintf("%d entries are left out, because a report has at most %d KiB.", leftOut, report.MaxBytes>>10)
		fmt.Fprintln(out, terminal.ScreenOf(out).Wrap(line, 0))
	}
	return nil
}

// printNames prints arguments for kubectl get, because the reports of addon-manager have the same names.
func printNames(out io.Writer, reports *report.DependencyReports) error {
	for i := range reports.Items {
		name := text.Name(reports.Items[i].Name)
		if _, err := fmt.Fprintf(out, "addondependencyreport.%s/%s\n", dependencyv1alpha1.GroupVersion.Group, name); err != nil {
			return err
		}
	}
	return nil
}

// printLost prints a command for the last verdicts on managed clusters that cannot be reached.
func (o *options) printLost(out io.Writer, fleet *snapshot.Snapshot, cluster string) {
	lost := lostClusters(fleet, cluster)
	if lost == 0 {
		return
	}
	arguments := "-A"
	if cluster != "" && len(validation.IsDNS1123Subdomain(cluster)) == 0 {
		arguments = cluster + " -n " + cluster
	}
	command, screen := "kubectl get addondependencyreports "+arguments+" -o yaml", terminal.ScreenOf(out)
	fmt.Fprintln(out)
	fmt.Fprintln(out, screen.Wrap(fmt.Sprintf("Managed clusters that cannot be reached, so their verdicts are held: %d", lost), 0))
	fmt.Fprintln(out, screen.Wrap("The last ones are not known here. They are in the reports on the hub, where addon-manager runs with --reports:", 0))
	if note := o.source.Note(command); note != "" {
		fmt.Fprintln(out, "note "+screen.Wrap(note, len("note ")))
	}
	fmt.Fprintf(out, "run  %s\n", o.source.Command(command))
}

// printEdges prints the edges. The column of the cause stays if a terminal has no room for all columns.
func (o *options) printEdges(rows [][]string, cluster string) error {
	t := o.flags.Table(o.Out, heading)
	t.Spare = []string{"SINCE", "TYPE", "VERDICT"}
	if cluster != "" {
		t.Spare = append([]string{"CLUSTER"}, t.Spare...)
	}
	return t.Print(rows)
}

// printWaiting prints the waiting installations and upgrades. The column of the dependencies stays if a terminal has no room for all
// columns.
func (o *options) printWaiting(rows [][]string, cluster string) error {
	t := o.flags.Table(o.Out, waitingHeading)
	t.Spare = []string{"SINCE", "KIND", "RUNS"}
	if cluster != "" {
		t.Spare = append([]string{"CLUSTER"}, t.Spare...)
	}
	return t.Print(rows)
}

func waitingRow(cluster string, wait *dependencyv1alpha1.ReportedWait, now time.Time) []string {
	var dependencies []string
	for _, edge := range wait.Dependencies {
		dependencies = append(dependencies, cmp.Or(edge.Dependency, undeclared)+": "+edge.Verdict)
	}
	return []string{
		cluster, wait.AddOn, string(wait.Kind), report.Templated(wait.RunningTemplate, wait.RunningVersion),
		report.Templated(wait.Template, wait.Version), age(wait.Since, now), strings.Join(dependencies, ", "),
	}
}

// age returns the time since then in words. It is empty if the time is unknown.
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
	return []string{
		cluster, edge.AddOn, cmp.Or(edge.Dependency, undeclared), edge.Type, edge.Verdict, age(edge.Since, now), strings.Join(causes, ", "),
	}
}

// lostClusters counts the managed clusters that cannot be reached.
func lostClusters(fleet *snapshot.Snapshot, cluster string) int {
	names := fleet.Names()
	if cluster != "" {
		names = []string{cluster}
	}
	return len(slices.DeleteFunc(names, func(name string) bool { return !fleet.Lost(name) }))
}
