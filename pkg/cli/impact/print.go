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

// maxClusters is how many clusters are named.
const maxClusters = 3

var heading = []string{"ADD-ON", "DEPENDENCY", "TYPE", "NOW", "THEN", "CLUSTERS"}

// printImpact prints a table of the edges that would break, and one of all other differences.
func (o *options) printImpact(found *report.Impact) error {
	out, screen := o.Out, terminal.Of(o.Out)
	if placed := found.Placement; placed != nil {
		fmt.Fprintln(out, screen.Wrap(fmt.Sprintf("Placement %s selects %d of %d managed clusters: %s",
			text.Name(placed.Name), len(placed.Clusters), placed.Of, o.first(placed.Clusters)), 0))
		for _, note := range placed.Notes {
			fmt.Fprintln(out, screen.Wrap("Note: "+text.OneLine(note)+".", 0))
		}
		fmt.Fprintln(out)
	}
	var breaks, others [][]string
	for i := range found.Items {
		if item := &found.Items[i]; item.Breaks {
			breaks = append(breaks, o.row(item))
		} else {
			others = append(others, o.row(item))
		}
	}
	for _, one := range found.Installed {
		fmt.Fprintln(out, screen.Wrap(fmt.Sprintf("%s is installed on %d of %d managed clusters already, and stays as it is there: %s",
			text.Name(one.AddOn), len(one.Clusters), found.Clusters, o.first(one.Clusters)), 0))
	}
	says := "No dependency would become unsatisfied."
	if len(breaks) > 0 {
		says = "These dependencies would become unsatisfied:"
	}
	fmt.Fprintln(out, screen.Wrap(fmt.Sprintf("Tried on %s. %s", found.Reach, says), 0))
	if len(breaks) > 0 {
		if err := o.table().Print(breaks); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	fmt.Fprint(out, "\nOther changes:\n")
	return o.table().Print(others)
}

func (o *options) table() *table.Table {
	empty := o.flags.Table(o.Out, heading)
	empty.Spare = []string{"TYPE", "NOW"}
	return empty
}

func (o *options) row(item *report.Affected) []string {
	clusters := fmt.Sprintf("%d: %s", len(item.Clusters), o.first(item.Clusters))
	return []string{item.AddOn, item.Edge, typeOf(item), string(item.Before), string(item.After), clusters}
}

// first are the names of the first clusters, or of all.
func (o *options) first(clusters []string) string {
	if o.flags.Is(output.Wide) {
		return strings.Join(clusters, ", ")
	}
	names := strings.Join(clusters[:min(len(clusters), maxClusters)], ", ")
	if len(clusters) > maxClusters {
		names += ", …"
	}
	return names
}

// breaks is the error where a dependency would become unsatisfied, with the command that
// shows more of it.
func (o *options) breaks(found *report.Impact) error {
	line := ""
	if changed := append(slices.Clone(o.trial.Remove), slices.Sorted(maps.Keys(o.trial.Versions))...); len(changed) > 0 {
		line = "kubectl addon tree " + source.Quoted(changed[0]) + " --dependents"
	} else if first := slices.IndexFunc(found.Items, func(item report.Affected) bool { return item.Breaks }); first >= 0 {
		name := found.Items[first].AddOn
		isGiven := slices.ContainsFunc(o.trial.Registrations, func(addOn addonv1alpha1.ClusterManagementAddOn) bool { return addOn.Name == name })
		if isGiven || len(validation.IsDNS1123Subdomain(name)) > 0 {
			return ErrBreaks
		}
		line = "kubectl addon describe " + name
	}
	return fmt.Errorf("%w: %s", ErrBreaks, o.source.Command(line))
}

// typeOf is the type of an edge, and the one of before where a policy or another declaration changes it.
func typeOf(item *report.Affected) string {
	if item.TypeBefore == "" {
		return string(item.Type)
	}
	return string(item.TypeBefore) + " → " + string(item.Type)
}
