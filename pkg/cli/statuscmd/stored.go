package statuscmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// liveSummary is the command that reads all managed clusters.
const liveSummary = "kubectl addon status --summary --live"

// storedReport returns the report on the fleet of addon-manager, if it has all that is to be printed. Otherwise it is nil: the report does
// not have all clusters of a wait, which other formats print, nor the numbers of selected clusters.
func (o *options) storedReport(ctx context.Context) (*report.FleetReport, error) {
	if o.live || o.name != "" || o.namespace != "" || o.selector != nil || o.source.IsFile() || o.flags.Chosen() {
		return nil, nil
	}
	return o.source.FleetReport(ctx)
}

// printStored prints a report on the fleet.
func (o *options) printStored(stored *report.FleetReport) error {
	now := time.Now()
	if _, err := fmt.Fprintln(o.Out, source.Age(stored, now, o.source.Command(liveSummary))); err != nil {
		return err
	}
	if err := o.printSummary(storedSummary(stored)); err != nil {
		return err
	}
	if err := o.printStoredWaits(stored, now); err != nil {
		return err
	}
	leftOut := stored.Summary.LeftOut
	if leftOut.Edges+leftOut.Waiting == 0 {
		return nil
	}
	_, err := fmt.Fprintf(o.Out, "\nThe report leaves out %s and %s: %s\n",
		text.Count(int(leftOut.Edges), "row")+" of dependencies", text.Count(int(leftOut.Waiting), "row")+" of waits", o.source.Command(liveSummary))
	return err
}

// storedSummary returns the edges of a report.
func storedSummary(stored *report.FleetReport) *report.Summary {
	summary := &report.Summary{Reach: report.Reach{Clusters: int(stored.Summary.Clusters + stored.Summary.Detached), Lost: int(stored.Summary.Lost)}}
	for i := range stored.Edges {
		edge := &stored.Edges[i]
		item := report.SummarizedEdge{
			AddOn:    edge.AddOn,
			Edge:     edge.Dependency,
			Type:     addonv1alpha1.DependencyType(edge.Type),
			Verdicts: map[evaluation.Verdict]int{},
		}
		for _, counted := range edge.Verdicts {
			item.Verdicts[evaluation.Verdict(counted.Verdict)] = int(counted.Clusters)
		}
		summary.Items = append(summary.Items, item)
	}
	return summary
}

// printStoredWaits prints a table of the waits of a report, if there are any.
func (o *options) printStoredWaits(stored *report.FleetReport, now time.Time) error {
	var cells [][]string
	for i := range stored.Waiting {
		wait := &stored.Waiting[i]
		var since time.Time
		if wait.Since != nil {
			since = wait.Since.Time
		}
		var dependencies []string
		for _, dependency := range wait.Dependencies {
			dependencies = append(dependencies, fmt.Sprintf("%s (%d)", dependency.Dependency, dependency.Clusters))
		}
		examples := strings.Join(wait.Examples, ", ")
		if int(wait.Clusters) > len(wait.Examples) {
			examples += ", …"
		}
		cells = append(cells, []string{
			wait.AddOn, string(wait.Kind), report.Templated(wait.Template, wait.Version), age(since, now),
			fmt.Sprintf("%d: %s", wait.Clusters, examples), strings.Join(dependencies, ", "),
		})
	}
	return o.printWaiting([]string{"ADD-ON", "KIND", "WAITING", "SINCE", "CLUSTERS", "WAITS FOR"}, cells)
}
