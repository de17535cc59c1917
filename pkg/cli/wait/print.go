package wait

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	maxClusters = 3  // that a row names
	maxRows     = 20 // of the table
)

// line returns the progress in one line.
func (p *progress) line(goal target) string {
	if slices.Contains(goal.goals, goalGone) {
		return p.removalLine()
	}
	reached := fmt.Sprintf("%d of %s ok", p.okClusters, text.Count(p.clusters, "cluster"))
	if goal.cluster != "" || p.clusters == 0 {
		reached = fmt.Sprintf("%d of %s ok", p.okAddOns, text.Count(p.addOns, "add-on"))
	}
	if len(p.waiting) == 0 {
		return reached
	}
	first := p.waiting[0]
	name := first.cluster
	if goal.cluster != "" || name == "" {
		name = first.addOn
	}
	return text.OneLine(fmt.Sprintf("%s; waiting for %s: %s", reached, name, first.reason))
}

// removalLine returns the progress of a removal in one line.
func (p *progress) removalLine() string {
	if len(p.waiting) == 0 {
		return "gone"
	}
	first := p.waiting[0]
	return text.OneLine(fmt.Sprintf("%s left; waiting for %s: %s", text.Count(len(p.waiting), "add-on"), first.cluster, first.reason))
}

// group has the clusters on which an add-on waits for the same reason.
type group struct {
	addOn, reason string
	clusters      []string
}

// printWaiting prints the add-ons that have not reached the goals, and the command to run next. Add-ons that wait on most clusters
// come first.
func (p *progress) printWaiting(out io.Writer, goal target, hub *source.Source) error {
	groups := p.groups()
	var rows [][]string
	for _, group := range groups[:min(len(groups), maxRows)] {
		rows = append(rows, []string{group.addOn, group.clusterCell(), group.reason})
	}
	if err := table.Print(out, []string{"ADD-ON", "CLUSTERS", "WAITING FOR"}, rows); err != nil {
		return err
	}
	screen := terminal.ScreenOf(out)
	if more := len(groups) - maxRows; more > 0 {
		fmt.Fprintf(out, "%d more\n", more)
	}
	if command := groups[0].nextCommand(slices.Contains(goal.goals, goalGone)); command != "" {
		fmt.Fprintln(out)
		if note := hub.Note(command); note != "" {
			fmt.Fprintln(out, "note "+screen.Wrap(note, len("note ")))
		}
		fmt.Fprintf(out, "run  %s\n", hub.Command(command))
	}
	return nil
}

func (p *progress) groups() []*group {
	var groups []*group
	byReason := map[[2]string]*group{}
	for _, item := range p.waiting {
		key := [2]string{item.addOn, item.reason}
		if byReason[key] == nil {
			byReason[key] = &group{addOn: item.addOn, reason: item.reason}
			groups = append(groups, byReason[key])
		}
		if item.cluster != "" {
			byReason[key].clusters = append(byReason[key].clusters, item.cluster)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(-cmp.Compare(len(a.clusters), len(b.clusters)), cmp.Compare(a.addOn, b.addOn))
	})
	return groups
}

func (g *group) clusterCell() string {
	if len(g.clusters) == 0 {
		return ""
	}
	names := strings.Join(g.clusters[:min(len(g.clusters), maxClusters)], ", ")
	if len(g.clusters) > maxClusters {
		names += ", …"
	}
	return fmt.Sprintf("%d: %s", len(g.clusters), names)
}

// nextCommand returns the command that explains the reason. It is empty if a name is not valid for an object: names may come from
// a file, and a shell could run them.
func (g *group) nextCommand(removal bool) string {
	for _, name := range append([]string{g.addOn}, g.clusters...) {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return ""
		}
	}
	switch {
	case len(g.clusters) == 0:
		return "kubectl get clustermanagementaddon " + g.addOn + " -o yaml"
	case g.reason == unreachableReason:
		return "kubectl describe managedcluster " + g.clusters[0]
	case removal:
		return fmt.Sprintf("kubectl describe managedclusteraddon %s -n %s", g.addOn, g.clusters[0])
	case g.reason == outdatedReason:
		return "kubectl addon doctor"
	case len(g.clusters) == 1 || strings.HasSuffix(g.reason, optionalSuffix):
		return fmt.Sprintf("kubectl addon why %s -n %s", g.addOn, g.clusters[0])
	default:
		return "kubectl addon why " + g.addOn
	}
}

// printRemoving prints notes about the first dependencies that are being removed: they satisfy until they are gone.
func (p *progress) printRemoving(out io.Writer) {
	screen := terminal.ScreenOf(out)
	for _, removal := range p.removing[:min(len(p.removing), maxRows)] {
		fmt.Fprintln(out, "note  "+screen.Wrap(removal.String(), len("note  ")))
	}
}
