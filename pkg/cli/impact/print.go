package impact

import (
	"fmt"
	"io"
	"strings"

	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxClusters is how many clusters are named.
const maxClusters = 3

var heading = []string{"ADD-ON", "DEPENDENCY", "TYPE", "NOW", "THEN", "CLUSTERS"}

// printImpact prints a table of the edges that would break, and one of all other differences.
func printImpact(out io.Writer, found *report.Impact) error {
	if placed := found.Placement; placed != nil {
		fmt.Fprintf(out, "Placement %s selects %d of %d managed clusters: %s\n", text.Name(placed.Name), len(placed.Clusters), placed.Of, first(placed.Clusters))
		for _, note := range placed.Notes {
			fmt.Fprintf(out, "Note: %s.\n", text.OneLine(note))
		}
		fmt.Fprintln(out)
	}
	var breaks, others [][]string
	for i := range found.Items {
		if item := &found.Items[i]; item.Breaks {
			breaks = append(breaks, row(item))
		} else {
			others = append(others, row(item))
		}
	}
	for _, one := range found.Installed {
		fmt.Fprintf(out, "%s is installed on %d of %d managed clusters already, and stays as it is there: %s\n",
			text.Name(one.AddOn), len(one.Clusters), found.Clusters, first(one.Clusters))
	}
	fmt.Fprintf(out, "Tried on %s. ", found.Reach)
	if len(breaks) == 0 {
		fmt.Fprint(out, "No dependency would become unsatisfied.\n")
	} else {
		fmt.Fprint(out, "These dependencies would become unsatisfied:\n")
		if err := table.Print(out, heading, breaks); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	fmt.Fprint(out, "\nOther changes:\n")
	return table.Print(out, heading, others)
}

func row(item *report.Affected) []string {
	clusters := fmt.Sprintf("%d: %s", len(item.Clusters), first(item.Clusters))
	return []string{item.AddOn, item.Edge, string(item.Type), string(item.Before), string(item.After), clusters}
}

// first are the names of the first clusters.
func first(clusters []string) string {
	names := strings.Join(clusters[:min(len(clusters), maxClusters)], ", ")
	if len(clusters) > maxClusters {
		names += ", …"
	}
	return names
}
