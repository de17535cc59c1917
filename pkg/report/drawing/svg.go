package drawing

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/drawing/layered"
	"open-cluster-management.io/interlock/pkg/text"
)

// Sizes in pixels.
const (
	nameSize  = 14.0
	smallSize = 12.0
	lineStep  = 18.0
	padding   = 14.0
	margin    = 24.0
	header    = 62.0 // title and date
	legend    = 88.0
	minWidth  = 790.0 // for the legend
	maxName   = 48    // characters in a box
)

// colors are the colors of lines and texts, by class.
var colors = map[string]string{"ink": "#1f2328", "quiet": "#57606a", "broken": broken}

// SVG draws the graph as a picture that refers to no other file.
func SVG(out io.Writer, graph *report.Graph) error {
	return (&picture{lines: lines{out: out}, graph: graph, top: header}).draw()
}

// Figure draws the graph as SVG without its title and its date, for a page that has them. The colors are attributes of presentation, so
// the style sheet of the page can replace them by the classes of the elements. The add-ons have the marks of the page, by name.
func Figure(out io.Writer, graph *report.Graph, marks map[string]Mark) error {
	return (&picture{lines: lines{out: out}, graph: graph, marks: marks}).draw()
}

// picture is a drawing of a graph.
type picture struct {
	lines

	graph *report.Graph
	// marks are the states of add-ons by name. Without them, the picture has the numbers of the graph.
	marks map[string]Mark
	// top is the height of the title. The picture has no title if it is zero.
	top float64
}

// draw draws the graph below its title.
func (l *picture) draw() error {
	graph, top := l.graph, l.top
	drawing := layered.Draw(l.layoutNodes(), layoutEdges(graph))
	width, height := max(drawing.Width+2*margin, minWidth), max(top, margin)+drawing.Height+margin+legend
	l.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-labelledby="addons-title addons-desc" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">`,
		width, height, width, height)
	l.add(`<title id="addons-title">%s</title>`, escape(title(graph)))
	l.add(`<desc id="addons-desc">%s</desc>`, escape(l.describe()))
	l.add(`<rect class="paper" width="100%%" height="100%%" fill="white"/>`)
	if top > 0 {
		l.text(margin, 32, "start", 18, "ink", title(graph), ` font-weight="bold"`)
		l.text(margin, 50, "start", smallSize, "quiet", graph.Taken.UTC().Format("2006-01-02 15:04 MST"), "")
	}
	l.add(`<g transform="translate(%.1f,%.1f)">`, margin, max(top, margin))
	for i := range graph.Edges {
		l.edge(&graph.Edges[i], drawing.Routes[i], boxOf(graph, drawing, graph.Edges[i].Dependent))
	}
	for i := range graph.Nodes {
		l.node(&graph.Nodes[i], drawing.Boxes[i])
	}
	l.add(`</g>`)
	l.legend(height - legend + 20)
	l.add(`</svg>`)
	return l.err
}

// label returns the lines of a node, with the sign of its state first, and its class and color.
func (l *picture) label(node *report.GraphNode) (label []string, class, color string) {
	mark, isMarked := l.marks[node.Name]
	if !isMarked || node.Kind != report.NodeAddOn {
		state := stateOf(node)
		return signed(node), state.class, state.color
	}
	for _, each := range Classes {
		if each.Class == mark.Class {
			color = each.Color
		}
	}
	return append([]string{strings.TrimSpace(mark.Sign + " " + text.Name(node.Name))}, mark.Lines...), mark.Class, color
}

func title(graph *report.Graph) string {
	title := "Dependencies of add-ons"
	if graph.AddOn != "" {
		title = "Dependencies around " + text.Name(graph.AddOn)
	}
	if graph.Cluster != "" {
		title += " on " + text.Name(graph.Cluster)
	}
	return title
}

// describe returns the picture in words, for screen readers.
func (l *picture) describe() string {
	graph := l.graph
	var sentences []string
	for i := range graph.Nodes {
		label := label(&graph.Nodes[i])
		if mark, ok := l.marks[graph.Nodes[i].Name]; ok {
			label = []string{label[0], mark.Words}
		}
		sentences = append(sentences, strings.Join(label, ": ")+".")
	}
	for i := range graph.Edges {
		edge := &graph.Edges[i]
		sentence := fmt.Sprintf("%s depends on %s (%s", text.Name(edge.Dependent), text.Name(edge.Target), edge.Type)
		if note := note(edge); note != "" {
			sentence += ", " + note
		}
		sentences = append(sentences, sentence+").")
	}
	return strings.Join(sentences, "\n")
}

func (l *picture) layoutNodes() []layered.Node {
	graph := l.graph
	nodes := make([]layered.Node, 0, len(graph.Nodes))
	for i := range graph.Nodes {
		lines, _, _ := l.label(&graph.Nodes[i])
		width := float64(textWidth(text.Cut(lines[0], maxName), nameSize) * 1.06) // bold
		for _, line := range lines[1:] {
			width = max(width, textWidth(line, smallSize))
		}
		nodes = append(nodes, layered.Node{
			Name: graph.Nodes[i].Name, Width: width + 2*padding, Height: lineStep*float64(len(lines)) + padding,
		})
	}
	return nodes
}

func layoutEdges(graph *report.Graph) []layered.Edge {
	edges := make([]layered.Edge, 0, len(graph.Edges))
	for i := range graph.Edges {
		edge := layered.Edge{Dependent: graph.Edges[i].Dependent, Dependency: graph.Edges[i].Target}
		if note := note(&graph.Edges[i]); note != "" {
			edge.LabelWidth, edge.LabelHeight = textWidth(note, smallSize)+2*4, lineStep
		}
		edges = append(edges, edge)
	}
	return edges
}

// textWidth returns the largest width of a text in any of the fonts, because the fonts of the viewer are not known. A character that is
// not ASCII may be as wide as high.
func textWidth(content string, size float64) float64 {
	width := 0.0
	for _, r := range content {
		switch {
		case r >= utf8.RuneSelf:
			width++
		case strings.ContainsRune("iljtfrI.,:;'|!()[] -", r):
			width += 0.42
		case strings.ContainsRune("mwMW@%", r):
			width += 0.98
		default:
			width += 0.64
		}
	}
	return float64(width * size) // not fused with a sum: some processors would round otherwise
}

func boxOf(graph *report.Graph, drawing layered.Drawing, name string) layered.Box {
	for i := range graph.Nodes {
		if graph.Nodes[i].Name == name {
			return drawing.Boxes[i]
		}
	}
	return layered.Box{}
}

// node draws a box with its label.
func (l *picture) node(node *report.GraphNode, box layered.Box) {
	label, class, color := l.label(node)
	l.add(`<g class="node"><title>%s</title>`, escape(text.Name(node.Name)))
	l.add(`<rect class="box %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6" fill="%s" stroke="#57606a"/>`,
		class, box.X-box.Width/2, box.Y-box.Height/2, box.Width, box.Height, color)
	y := box.Y - lineStep*float64(len(label)-1)/2 + nameSize*0.36
	l.text(box.X, y, "middle", nameSize, "ink", text.Cut(label[0], maxName), ` font-weight="bold"`)
	for i, line := range label[1:] {
		l.text(box.X, y+lineStep*float64(i+1), "middle", smallSize, "ink", line, "")
	}
	l.add(`</g>`)
}

// edge draws a line with an arrow and a label. box is the box of the dependent.
func (l *picture) edge(edge *report.GraphEdge, route layered.Route, box layered.Box) {
	class, dashes := "quiet", kindOf(edge).dashes
	if edge.Unsatisfied > 0 {
		class = "broken"
	}
	relation := " depends on "
	if edge.Type == addonv1alpha1.DependencyTypeConflicts {
		relation = " conflicts with "
	}
	l.add(`<g><title>%s</title>`, escape(text.Name(edge.Dependent)+relation+text.Name(edge.Target)+": "+counts(edge)))
	if len(route.Points) == 0 { // The add-on depends on itself.
		x, y := box.X+box.Width/2, box.Y
		route.Label = layered.Point{X: x - textWidth(note(edge), smallSize)/2, Y: box.Y - box.Height/2 - 8}
		l.line(fmt.Sprintf("M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f", x, y+9, x+30, y+14, x+30, y-14, x+8, y-9), class, dashes)
		l.arrow(layered.Point{X: x, Y: y - 9}, -1, class)
	} else {
		path, tip, direction := curve(route)
		l.line(path, class, dashes)
		l.arrow(tip, direction, class)
	}
	if note := note(edge); note != "" {
		width := textWidth(note, smallSize)
		l.add(`<rect class="behind" x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="white"/>`,
			route.Label.X-width/2, route.Label.Y-lineStep/2, width, lineStep)
		l.text(route.Label.X, route.Label.Y+smallSize*0.36, "middle", smallSize, class, note, "")
	}
	l.add(`</g>`)
}

// curve returns the SVG path of a route, and the tip and the direction of its arrow. The path leaves room for the arrow.
func curve(route layered.Route) (string, layered.Point, float64) {
	points := slices.Clone(route.Points)
	last := len(points) - 1
	tip, direction := points[last], 1.0
	if route.Back {
		tip, direction = points[0], -1
		points[0].X, points[1].X = points[0].X+8, points[1].X+8
	} else {
		points[last-1].X, points[last].X = points[last-1].X-8, points[last].X-8
	}
	var d strings.Builder
	fmt.Fprintf(&d, "M%.1f,%.1f", points[0].X, points[0].Y)
	for i := 2; i < len(points); i += 2 {
		start, end := points[i-1], points[i]
		middle := (start.X + end.X) / 2
		fmt.Fprintf(&d, " C%.1f,%.1f %.1f,%.1f %.1f,%.1f", middle, start.Y, middle, end.Y, end.X, end.Y)
		fmt.Fprintf(&d, " L%.1f,%.1f", points[i+1].X, points[i+1].Y)
	}
	return d.String(), tip, direction
}

// arrow draws an arrow that points to the right if the direction is 1, and to the left if it is -1.
func (l *lines) arrow(tip layered.Point, direction float64, class string) {
	x := tip.X - 9*direction
	l.add(`<polygon class="%s" points="%.1f,%.1f %.1f,%.1f %.1f,%.1f" fill="%s"/>`,
		class, tip.X, tip.Y, x, tip.Y-4.5, x, tip.Y+4.5, colors[class])
}

func (l *lines) line(path, class, dashes string) {
	l.add(`<path class="line %s" d="%s" fill="none" stroke="%s" stroke-width="1.4"%s/>`, class, path, colors[class], dashes)
}

func (l *lines) text(x, y float64, anchor string, size float64, class, content, attributes string) {
	l.add(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s" font-size="%.0f" fill="%s"%s>%s</text>`,
		class, x, y, anchor, size, colors[class], attributes, escape(content))
}

// escape escapes text for XML. It replaces characters that XML does not allow.
func escape(content string) string {
	var safe strings.Builder
	_ = xml.EscapeText(&safe, []byte(content)) // a strings.Builder has no errors
	return safe.String()
}
