package tree

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/xlab/treeprint"
	"k8s.io/apimachinery/pkg/util/duration"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxClusters is how many clusters of a group are named.
const maxClusters = 5

// spare are columns that a narrow terminal has no room for: the verdict and the reason say more.
var spare = []string{"SINCE", "TYPE", "AVAILABLE"}

var heading = []string{"NAME", "TYPE", "VERDICT", "AVAILABLE", "SINCE", "REASON"}

// draw prints a table for each tree, with the tree in its first column.
func draw(out io.Writer, trees *report.Trees, o *options) error {
	wide, screen := o.flags.Is(output.Wide), terminal.ScreenOf(out)
	title := func(content string) string {
		if wide {
			return content
		}
		return screen.Wrap(content, 0)
	}
	for i := range trees.Items {
		tree := &trees.Items[i]
		if i > 0 {
			fmt.Fprintln(out)
		}
		if o.grouping && len(trees.Items) > 1 && tree.OK() {
			fmt.Fprintln(out, title(clusters(tree, wide)+": all is well"))
			continue
		}
		fmt.Fprintln(out, title(clusters(tree, wide)+":"))
		drawn := treeprint.NewWithRoot(label(&tree.Node))
		content := rows(&tree.Node, drawn, trees.Taken)
		shown := o.flags.Table(out, heading)
		shown.Spare = spare
		if err := shown.PrintTree(strings.Split(drawn.String(), "\n"), content); err != nil {
			return err
		}
	}
	return nil
}

// clusters names the clusters of a tree: the first ones, or all.
func clusters(tree *report.Tree, all bool) string {
	names, most := tree.Clusters, maxClusters
	if all {
		most = len(names)
	}
	shown := text.OneLine(strings.Join(names[:min(len(names), most)], ", "))
	switch more := len(names) - most; {
	case len(names) == 1:
	case more > 0:
		shown = fmt.Sprintf("%d clusters (%s, %d more)", len(names), shown, more)
	default:
		shown = fmt.Sprintf("%d clusters (%s)", len(names), shown)
	}
	if tree.Lost {
		shown += ", which cannot be reached"
	}
	return shown
}

// rows are those of a node and of all below it, in the order in which treeprint draws
// them.
func rows(node *report.Node, drawn treeprint.Tree, now time.Time) [][]string {
	since := ""
	if !node.Since.IsZero() {
		since = duration.HumanDuration(now.Sub(node.Since))
	}
	all := [][]string{{string(node.Type), string(node.Verdict), string(node.Available), since, reason(node)}}
	for i := range node.Nodes {
		below := &node.Nodes[i]
		all = append(all, rows(below, drawn.AddBranch(label(below)), now)...)
	}
	for i := range node.Alternatives {
		below := &node.Alternatives[i]
		all = append(all, rows(below, drawn.AddBranch(label(below)), now)...)
	}
	return all
}

func label(node *report.Node) string {
	shown := text.Name(node.Name)
	if node.Edge != "" {
		shown += " (as " + text.Name(node.Edge) + ")"
	}
	if len(node.Providers) > 0 {
		shown += " (provided by " + text.Names(node.Providers, " or ") + ")"
	}
	if node.Bundle {
		shown += " (bundle)"
	}
	if node.Gate != "" {
		shown += " (gate closed)"
	}
	if node.Repeated {
		shown += " ↑" // what is below it is above
	}
	return shown
}

// reason is that of the add-on's condition, or what is wrong with the edge where that is
// something else.
func reason(node *report.Node) string {
	switch node.Verdict {
	case evaluation.NotInstalled:
		return ""
	case "", evaluation.NotAvailable:
		return node.Reason
	default:
		return cmp.Or(node.Message, node.Reason)
	}
}
