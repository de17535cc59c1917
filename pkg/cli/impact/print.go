package impact

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxClusters is the largest number of clusters that a row names.
const maxClusters = 3

var heading = []string{"ADD-ON", "DEPENDENCY", "TYPE", "NOW", "THEN", "CLUSTERS"}

// printImpact prints a table of the edges that would break, and a table of all other differences.
func (o *options) printImpact(impact *report.Impact) error {
	out, screen := o.Out, terminal.ScreenOf(o.Out)
	if selection := impact.Placement; selection != nil {
		fmt.Fprintln(out, screen.Wrap(fmt.Sprintf("Placement %s selects %d of %d managed clusters: %s",
			text.Name(selection.Name), len(selection.Clusters), selection.Total, o.joinFirst(selection.Clusters)), 0))
		for _, note := range selection.Notes {
			fmt.Fprintln(out, screen.Wrap("Note: "+text.OneLine(note)+".", 0))
		}
		fmt.Fprintln(out)
	}
	var breaks, harmless [][]string
	for i := range impact.Items {
		if item := &impact.Items[i]; item.Breaks {
			breaks = append(breaks, o.row(item))
		} else {
			harmless = append(harmless, o.row(item))
		}
	}
	for _, addOn := range impact.Installed {
		fmt.Fprintln(out, screen.Wrap(fmt.Sprintf("%s is installed on %d of %d managed clusters already, and stays as it is there: %s",
			text.Name(addOn.AddOn), len(addOn.Clusters), impact.Clusters, o.joinFirst(addOn.Clusters)), 0))
	}
	summary := "No dependency would become unsatisfied."
	if len(breaks) > 0 {
		summary = "These dependencies would become unsatisfied:"
	}
	fmt.Fprintln(out, screen.Wrap(fmt.Sprintf("Tried on %s. %s", impact.Reach, summary), 0))
	if len(breaks) > 0 {
		if err := o.table().Print(breaks); err != nil {
			return err
		}
	}
	if len(harmless) == 0 {
		return nil
	}
	fmt.Fprint(out, "\nOther changes:\n")
	return o.table().Print(harmless)
}

func (o *options) table() *table.Table {
	empty := o.flags.Table(o.Out, heading)
	empty.Spare = []string{"TYPE", "NOW"}
	return empty
}

func (o *options) row(item *report.Affected) []string {
	clusters := fmt.Sprintf("%d: %s", len(item.Clusters), o.joinFirst(item.Clusters))
	return []string{item.AddOn, item.Edge, typeCell(item), string(item.VerdictBefore), string(item.VerdictAfter), clusters}
}

// joinFirst returns the names of the first clusters, or of all with -o wide.
func (o *options) joinFirst(clusters []string) string {
	if o.flags.Is(output.Wide) {
		return strings.Join(clusters, ", ")
	}
	names := strings.Join(clusters[:min(len(clusters), maxClusters)], ", ")
	if len(clusters) > maxClusters {
		names += ", …"
	}
	return names
}

// breakError returns the error for a change that makes a dependency unsatisfied, with the command that shows details.
func (o *options) breakError(impact *report.Impact) error {
	command := ""
	if changed := append(slices.Clone(o.trial.Remove), slices.Sorted(maps.Keys(o.trial.Versions))...); len(changed) > 0 {
		command = "kubectl addon tree " + source.Quoted(changed[0]) + " --dependents"
	} else if first := slices.IndexFunc(impact.Items, func(item report.Affected) bool { return item.Breaks }); first >= 0 {
		name := impact.Items[first].AddOn
		inFile := slices.ContainsFunc(o.trial.Registrations, func(addOn addonv1alpha1.ClusterManagementAddOn) bool { return addOn.Name == name })
		if inFile || len(validation.IsDNS1123Subdomain(name)) > 0 {
			return ErrBreaks
		}
		command = "kubectl addon describe " + name
	}
	return fmt.Errorf("%w: %s", ErrBreaks, o.source.Command(command))
}

// typeCell returns the type of an edge, after its type before the change if that differs.
func typeCell(item *report.Affected) string {
	if item.TypeBefore == "" {
		return string(item.Type)
	}
	return string(item.TypeBefore) + " → " + string(item.Type)
}
