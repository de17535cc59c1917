// Package drawing draws the graph of dependencies: as a picture, and in the languages of programs that draw graphs.
package drawing

import (
	"fmt"
	"io"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// broken is the color of an edge that fails.
const broken = "#c0392b"

// state is the state of an add-on on all managed clusters. Its sign tells it apart without its color. Its class is for the elements of a
// picture.
type state struct{ class, color, sign, meaning string }

var (
	working = state{"working", "#d4edda", "✓", "available"}
	failing = state{"failing", "#f8d7da", "✗", "not available somewhere"}
	unknown = state{"unknown", "#e2e3e5", "?", "not known"}
	absent  = state{"absent", "white", "", "not installed, or no add-on"}
)

// Mark is the state of an add-on in a picture of a page that has other states. Class is one of the classes of Classes.
type Mark struct {
	Class, Sign string
	// Lines are shown below the name. Words are the same without signs.
	Lines []string
	Words string
}

// Classes are the classes of marks, worst first, with their colors and meanings.
var Classes = []struct{ Class, Color, Meaning string }{
	{"failing", "#f8d7da", "fails or is missing somewhere"},
	{"warning", "#fff3cd", "works with less, or not yet"},
	{"unknown", "#e2e3e5", "not known"},
	{"working", "#d4edda", "works"},
	{"absent", "white", "not installed, or no add-on"},
}

// lines writes text line by line. It keeps the first error.
type lines struct {
	out io.Writer
	err error
}

func (l *lines) add(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.out, format+"\n", args...)
	}
}

// Mermaid writes the graph as Mermaid, for Markdown.
func Mermaid(out io.Writer, graph *report.Graph) error {
	l := &lines{out: out}
	l.add("flowchart LR")
	ids := map[string]string{}
	for i := range graph.Nodes {
		node := &graph.Nodes[i]
		ids[node.Name] = fmt.Sprintf("n%d", i)
		l.add(`  %s["%s"]`, ids[node.Name], escaped.Replace(strings.Join(signed(node), "\n")))
		if state := stateOf(node); state != absent {
			l.add("  style %s fill:%s", ids[node.Name], state.color)
		}
	}
	for i := range graph.Edges {
		edge := &graph.Edges[i]
		arrow := "-->"
		if dashed(edge) {
			arrow = "-.->"
		}
		if label := note(edge); label != "" {
			arrow += `|"` + escaped.Replace(label) + `"|`
		}
		l.add("  %s %s %s", ids[edge.Dependent], arrow, ids[edge.Target])
		if edge.Unsatisfied > 0 {
			l.add("  linkStyle %d stroke:%s", i, broken)
		}
	}
	return l.err
}

// escaped escapes text for Mermaid, where # begins the code of a character, and for browsers,
// where < begins markup.
var escaped = strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\n", "<br/>")

// DOT writes the graph in the language of Graphviz.
func DOT(out io.Writer, graph *report.Graph) error {
	l := &lines{out: out}
	l.add("digraph addons {")
	l.add(`  rankdir=LR; node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica"]; edge [fontname="Helvetica"];`)
	for i := range graph.Nodes {
		node := &graph.Nodes[i]
		attributes := fmt.Sprintf("label=%q", strings.Join(signed(node), "\n"))
		if state := stateOf(node); state != absent {
			attributes += fmt.Sprintf(", fillcolor=%q", state.color)
		}
		l.add("  %q [%s];", node.Name, attributes)
	}
	for i := range graph.Edges {
		edge := &graph.Edges[i]
		attributes := []string{fmt.Sprintf("label=%q", note(edge))}
		if dashed(edge) {
			attributes = append(attributes, "style=dashed")
		}
		if edge.Unsatisfied > 0 {
			attributes = append(attributes, fmt.Sprintf("color=%q", broken))
		}
		l.add("  %q -> %q [%s];", edge.Dependent, edge.Target, strings.Join(attributes, ", "))
	}
	l.add("}")
	return l.err
}

// label returns the lines of a node: its name, and its numbers of clusters.
func label(node *report.GraphNode) []string {
	label := []string{text.Name(node.Name)}
	if node.Kind != report.NodeAddOn {
		return label
	}
	if node.Clusters == 0 {
		return append(label, "not installed")
	}
	var counts []string
	for _, count := range []struct {
		clusters int
		state    string
	}{{node.Working, "available"}, {node.Failing, "not available"}, {node.Held, "not known"}} {
		if count.clusters > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count.clusters, count.state))
		}
	}
	return append(label, strings.Join(counts, ", "))
}

// signed returns the lines of a node with the sign of its state.
func signed(node *report.GraphNode) []string {
	label := label(node)
	label[0] = strings.TrimSpace(stateOf(node).sign + " " + label[0])
	return label
}

func stateOf(node *report.GraphNode) state {
	switch {
	case node.Kind != report.NodeAddOn || node.Clusters == 0:
		return absent
	case node.Failing > 0:
		return failing
	case node.Held > 0 && node.Working == 0:
		return unknown
	default:
		return working
	}
}

// dashed reports whether the dependent can work without the target of an edge.
func dashed(edge *report.GraphEdge) bool {
	return edge.Type != addonv1alpha1.DependencyTypeRequired || edge.Alternative
}

// note returns the label of an edge. It is empty for an edge without special properties that fails nowhere.
func note(edge *report.GraphEdge) string {
	var notes []string
	if edge.Type == addonv1alpha1.DependencyTypeConflicts {
		notes = append(notes, "conflicts")
	}
	if edge.Alternative {
		notes = append(notes, text.Name(edge.Name)+": one of several")
	}
	if edge.Version != "" {
		notes = append(notes, text.OneLine(edge.Version))
	}
	if edge.Conditional {
		notes = append(notes, "on some clusters")
	}
	if edge.Unsatisfied > 0 {
		notes = append(notes, fmt.Sprintf("fails on %d of %d", edge.Unsatisfied, edge.Satisfied+edge.Unsatisfied+edge.Held))
	}
	return strings.Join(notes, ", ")
}

// counts returns the numbers of managed clusters of an edge, in words.
func counts(edge *report.GraphEdge) string {
	return fmt.Sprintf("satisfied on %d, fails on %d, not known on %d", edge.Satisfied, edge.Unsatisfied, edge.Held)
}
