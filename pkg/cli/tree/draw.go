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

// maxClusters is the largest number of clusters that the title of a tree names.
const maxClusters = 5

// spareColumns are columns for which a narrow terminal has no room. The verdict and the reason matter more.
var spareColumns = []string{"SINCE", "TYPE", "AVAILABLE"}

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
			fmt.Fprintln(out, title(describeClusters(tree, wide)+": all is well"))
			continue
		}
		fmt.Fprintln(out, title(describeClusters(tree, wide)+":"))
		drawing := treeprint.NewWithRoot(label(&tree.Node))
		cells := addNodes(&tree.Node, drawing, trees.Taken)
		table := o.flags.Table(out, heading)
		table.Spare = spareColumns
		if err := table.PrintTree(strings.Split(drawing.String(), "\n"), cells); err != nil {
			return err
		}
	}
	return nil
}

// describeClusters names the clusters of a tree: the first clusters, or all of them in wide output.
func describeClusters(tree *report.Tree, wide bool) string {
	names, limit := tree.Clusters, maxClusters
	if wide {
		limit = len(names)
	}
	description := text.OneLine(strings.Join(names[:min(len(names), limit)], ", "))
	switch rest := len(names) - limit; {
	case len(names) == 1:
	case rest > 0:
		description = fmt.Sprintf("%d clusters (%s, %d more)", len(names), description, rest)
	default:
		description = fmt.Sprintf("%d clusters (%s)", len(names), description)
	}
	if tree.Lost {
		description += ", which cannot be reached"
	}
	return description
}

// addNodes adds a node, and all nodes below it, to a drawing. It returns their rows in the order in which treeprint draws them.
func addNodes(node *report.Node, drawing treeprint.Tree, readTime time.Time) [][]string {
	since := ""
	if !node.Since.IsZero() {
		since = duration.HumanDuration(readTime.Sub(node.Since))
	}
	rows := [][]string{{string(node.Type), string(node.Verdict), string(node.Available), since, reason(node)}}
	for _, children := range [][]report.Node{node.Nodes, node.Alternatives} {
		for i := range children {
			child := &children[i]
			rows = append(rows, addNodes(child, drawing.AddBranch(label(child)), readTime)...)
		}
	}
	return rows
}

func label(node *report.Node) string {
	label := text.Name(node.Name)
	if node.Edge != "" {
		label += " (as " + text.Name(node.Edge) + ")"
	}
	if len(node.Providers) > 0 {
		label += " (provided by " + text.Names(node.Providers, " or ") + ")"
	}
	if node.Bundle {
		label += " (bundle)"
	}
	if node.Gate != "" {
		label += " (gate closed)"
	}
	if node.Deletion != nil {
		label += " (being removed)"
	}
	if node.Undeclared {
		label += " (dependencies not known)"
	}
	if node.Repeated {
		label += " ↑" // The nodes below it are drawn above.
	}
	return label
}

// reason returns the reason of the add-on's condition. If the edge fails for something else than availability, it returns the message
// of the edge.
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
