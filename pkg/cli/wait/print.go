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
	// maxClusters is how many clusters a row names, maxRows how many rows there are.
	maxClusters = 3
	maxRows     = 20
)

// line is the progress in one line.
func (p *progress) line(of target) string {
	if slices.Contains(of.goals, gone) {
		return p.left()
	}
	ok := fmt.Sprintf("%d of %s ok", p.okClusters, text.Count(p.clusters, "cluster"))
	if of.cluster != "" || p.clusters == 0 {
		ok = fmt.Sprintf("%d of %s ok", p.okAddOns, text.Count(p.addOns, "add-on"))
	}
	if len(p.waiting) == 0 {
		return ok
	}
	first := p.waiting[0]
	where := first.cluster
	if of.cluster != "" || where == "" {
		where = first.addOn
	}
	return text.OneLine(fmt.Sprintf("%s; waiting for %s: %s", ok, where, first.why))
}

// left is the progress of a removal.
func (p *progress) left() string {
	if len(p.waiting) == 0 {
		return "gone"
	}
	first := p.waiting[0]
	return text.OneLine(fmt.Sprintf("%s left; waiting for %s: %s", text.Count(len(p.waiting), "add-on"), first.cluster, first.why))
}

// group has the clusters on which an add-on waits for the same reason.
type group struct {
	addOn, why string
	clusters   []string
}

// printWaiting prints the add-ons that have not reached the goals, those on most clusters
// first, and the command to run next.
func (p *progress) printWaiting(out io.Writer, of target, from *source.Source) error {
	groups := p.groups()
	var rows [][]string
	for _, one := range groups[:min(len(groups), maxRows)] {
		rows = append(rows, []string{one.addOn, one.where(), one.why})
	}
	if err := table.Print(out, []string{"ADD-ON", "CLUSTERS", "WAITING FOR"}, rows); err != nil {
		return err
	}
	screen := terminal.Of(out)
	if more := len(groups) - maxRows; more > 0 {
		fmt.Fprintf(out, "%d more\n", more)
	}
	if command := groups[0].next(slices.Contains(of.goals, gone)); command != "" {
		fmt.Fprintln(out)
		if note := from.Note(command); note != "" {
			fmt.Fprintln(out, "note "+screen.Wrap(note, len("note ")))
		}
		fmt.Fprintf(out, "run  %s\n", from.Command(command))
	}
	return nil
}

func (p *progress) groups() []*group {
	var groups []*group
	byReason := map[[2]string]*group{}
	for _, one := range p.waiting {
		key := [2]string{one.addOn, one.why}
		if byReason[key] == nil {
			byReason[key] = &group{addOn: one.addOn, why: one.why}
			groups = append(groups, byReason[key])
		}
		if one.cluster != "" {
			byReason[key].clusters = append(byReason[key].clusters, one.cluster)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(-cmp.Compare(len(a.clusters), len(b.clusters)), cmp.Compare(a.addOn, b.addOn))
	})
	return groups
}

func (g *group) where() string {
	if len(g.clusters) == 0 {
		return ""
	}
	names := strings.Join(g.clusters[:min(len(g.clusters), maxClusters)], ", ")
	if len(g.clusters) > maxClusters {
		names += ", …"
	}
	return fmt.Sprintf("%d: %s", len(g.clusters), names)
}

// next is the command that shows why. It is empty where no object can have one of the names:
// it may come from a file, and a shell could run it.
func (g *group) next(removal bool) string {
	for _, name := range append([]string{g.addOn}, g.clusters...) {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return ""
		}
	}
	switch {
	case len(g.clusters) == 0:
		return "kubectl get clustermanagementaddon " + g.addOn + " -o yaml"
	case g.why == unreachable:
		return "kubectl describe managedcluster " + g.clusters[0]
	case removal:
		return fmt.Sprintf("kubectl describe managedclusteraddon %s -n %s", g.addOn, g.clusters[0])
	case g.why == outdated:
		return "kubectl addon doctor"
	case len(g.clusters) == 1 || strings.HasSuffix(g.why, isOptional):
		return fmt.Sprintf("kubectl addon why %s -n %s", g.addOn, g.clusters[0])
	default:
		return "kubectl addon why " + g.addOn
	}
}
