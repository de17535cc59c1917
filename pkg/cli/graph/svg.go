package graph

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/graph/layered"
	"open-cluster-management.io/interlock/pkg/report"
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
	legend    = 64.0
	minWidth  = 790.0 // what the legend needs
	maxName   = 48    // characters in a box
	quiet     = "#57606a"
)

// svg draws the graph as one picture, without references to anything outside of it.
func svg(out io.Writer, graph *report.Graph) error {
	drawn := layered.Draw(boxes(graph), ways(graph))
	width, height := max(drawn.Width+2*margin, minWidth), header+drawn.Height+margin+legend
	l := &lines{out: out}
	l.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-labeledby="addons-title addons-desc" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">`,
		width, height, width, height)
	l.add(`<title id="addons-title">%s</title>`, escape(title(graph)))
	l.add(`<desc id="addons-desc">%s</desc>`, escape(describe(graph)))
	l.add(`<rect width="100%%" height="100%%" fill="white"/>`)
	l.text(margin, 32, "start", 18, "#1f2328", title(graph), ` font-weight="bold"`)
	l.text(margin, 50, "start", smallSize, quiet, graph.Taken.UTC().Format("2006-01-02 15:04 MST"), "")
	l.add(`<g transform="translate(%.1f,%.1f)">`, margin, header)
	for i := range graph.Edges {
		l.edge(&graph.Edges[i], drawn.Ways[i], boxOf(graph, drawn, graph.Edges[i].From))
	}
	for i := range graph.Nodes {
		l.node(&graph.Nodes[i], drawn.Boxes[i])
	}
	l.add(`</g>`)
	l.legend(height - legend + 20)
	l.add(`</svg>`)
	return l.err
}

func title(graph *report.Graph) string {
	shown := "Dependencies of add-ons"
	if graph.AddOn != "" {
		shown = "Dependencies around " + text.Name(graph.AddOn)
	}
	if graph.Cluster != "" {
		shown += " on " + text.Name(graph.Cluster)
	}
	return shown
}

// describe is the picture in words, for screen readers.
func describe(graph *report.Graph) string {
	var sentences []string
	for i := range graph.Nodes {
		sentences = append(sentences, strings.Join(label(&graph.Nodes[i]), ": ")+".")
	}
	for i := range graph.Edges {
		edge := &graph.Edges[i]
		sentence := fmt.Sprintf("%s depends on %s (%s", text.Name(edge.From), text.Name(edge.To), edge.Type)
		if note := note(edge); note != "" {
			sentence += ", " + note
		}
		sentences = append(sentences, sentence+").")
	}
	return strings.Join(sentences, "\n")
}

func boxes(graph *report.Graph) []layered.Node {
	nodes := make([]layered.Node, 0, len(graph.Nodes))
	for i := range graph.Nodes {
		shown := label(&graph.Nodes[i])
		width := float64(wide(text.Cut(shown[0], maxName), nameSize) * 1.06) // bold
		for _, line := range shown[1:] {
			width = max(width, wide(line, smallSize))
		}
		nodes = append(nodes, layered.Node{Name: graph.Nodes[i].Name, Width: width + 2*padding, Height: lineStep*float64(len(shown)) + padding})
	}
	return nodes
}

func ways(graph *report.Graph) []layered.Edge {
	edges := make([]layered.Edge, 0, len(graph.Edges))
	for i := range graph.Edges {
		edge := layered.Edge{From: graph.Edges[i].From, To: graph.Edges[i].To}
		if note := note(&graph.Edges[i]); note != "" {
			edge.LabelWidth, edge.LabelHeight = wide(note, smallSize)+2*4, lineStep
		}
		edges = append(edges, edge)
	}
	return edges
}

// wide is how wide a text may be, in any of the fonts: those that a viewer has are not
// known. Characters that are not ASCII may be as wide as high.
func wide(content string, size float64) float64 {
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

func boxOf(graph *report.Graph, drawn layered.Drawing, name string) layered.Box {
	for i := range graph.Nodes {
		if graph.Nodes[i].Name == name {
			return drawn.Boxes[i]
		}
	}
	return layered.Box{}
}

// node draws a box with its label.
func (l *lines) node(node *report.GraphNode, at layered.Box) {
	color := fill(node)
	if color == "" {
		color = "white"
	}
	l.add(`<g><title>%s</title>`, escape(text.Name(node.Name)))
	l.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6" fill="%s" stroke="#57606a"/>`,
		at.X-at.Width/2, at.Y-at.Height/2, at.Width, at.Height, color)
	shown := label(node)
	y := at.Y - lineStep*float64(len(shown)-1)/2 + nameSize*0.36
	l.text(at.X, y, "middle", nameSize, "#1f2328", text.Cut(shown[0], maxName), ` font-weight="bold"`)
	for i, line := range shown[1:] {
		l.text(at.X, y+lineStep*float64(i+1), "middle", smallSize, "#1f2328", line, "")
	}
	l.add(`</g>`)
}

// edge draws a line with an arrow and its label. from is the box of its dependent.
func (l *lines) edge(edge *report.GraphEdge, way layered.Way, from layered.Box) {
	color, dashes := "#57606a", ""
	if edge.Unsatisfied > 0 {
		color = broken
	}
	if dashed(edge) {
		dashes = ` stroke-dasharray="5,4"`
	}
	relation := " depends on "
	if edge.Type == addonv1alpha1.DependencyTypeConflicts {
		relation = " conflicts with "
	}
	l.add(`<g><title>%s</title>`, escape(text.Name(edge.From)+relation+text.Name(edge.To)))
	if len(way.Points) == 0 { // on itself
		x, y := from.X+from.Width/2, from.Y
		way.Label = layered.Point{X: x - wide(note(edge), smallSize)/2, Y: from.Y - from.Height/2 - 8}
		l.add(`<path d="M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f" fill="none" stroke="%s" stroke-width="1.4"%s/>`, x, y+9, x+30, y+14, x+30, y-14, x+8, y-9, color, dashes)
		l.arrow(layered.Point{X: x, Y: y - 9}, -1, color)
	} else {
		path, end, direction := curve(way)
		l.add(`<path d="%s" fill="none" stroke="%s" stroke-width="1.4"%s/>`, path, color, dashes)
		l.arrow(end, direction, color)
	}
	if shown := note(edge); shown != "" {
		width := wide(shown, smallSize)
		l.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="white"/>`, way.Label.X-width/2, way.Label.Y-lineStep/2, width, lineStep)
		l.text(way.Label.X, way.Label.Y+smallSize*0.36, "middle", smallSize, color, shown, "")
	}
	l.add(`</g>`)
}

// curve is the path of a way, without the room for its arrow, and where that points to.
func curve(way layered.Way) (path string, end layered.Point, direction float64) {
	points := slices.Clone(way.Points)
	last := len(points) - 1
	end, direction = points[last], 1
	if way.Back {
		end, direction = points[0], -1
		points[0].X, points[1].X = points[0].X+8, points[1].X+8
	} else {
		points[last-1].X, points[last].X = points[last-1].X-8, points[last].X-8
	}
	var d strings.Builder
	fmt.Fprintf(&d, "M%.1f,%.1f", points[0].X, points[0].Y)
	for i := 2; i < len(points); i += 2 {
		from, to := points[i-1], points[i]
		middle := (from.X + to.X) / 2
		fmt.Fprintf(&d, " C%.1f,%.1f %.1f,%.1f %.1f,%.1f", middle, from.Y, middle, to.Y, to.X, to.Y)
		fmt.Fprintf(&d, " L%.1f,%.1f", points[i+1].X, points[i+1].Y)
	}
	return d.String(), end, direction
}

// arrow points to the right, or with -1 to the left.
func (l *lines) arrow(to layered.Point, direction float64, color string) {
	x := to.X - 9*direction
	l.add(`<polygon points="%.1f,%.1f %.1f,%.1f %.1f,%.1f" fill="%s"/>`, to.X, to.Y, x, to.Y-4.5, x, to.Y+4.5, color)
}

// legend explains colors and lines.
func (l *lines) legend(y float64) {
	x := margin
	for _, one := range []struct{ color, means string }{
		{working, "available"}, {failing, "not available somewhere"}, {unknown, "not known"}, {"white", "not installed, or no add-on"},
	} {
		l.add(`<rect x="%.1f" y="%.1f" width="16" height="12" rx="3" fill="%s" stroke="#57606a"/>`, x, y-10, one.color)
		l.text(x+22, y, "start", smallSize, quiet, one.means, "")
		x += 22 + wide(one.means, smallSize) + 16
	}
	x, y = margin, y+22
	for _, one := range []struct{ color, dashes, means string }{
		{"#57606a", "", "requires"}, {"#57606a", ` stroke-dasharray="5,4"`, "is optional, needed if installed, or one of several"}, {broken, "", "fails on that many managed clusters"},
	} {
		l.add(`<path d="M%.1f,%.1f h22" stroke="%s" stroke-width="1.4"%s/>`, x, y-4, one.color, one.dashes)
		l.text(x+28, y, "start", smallSize, quiet, one.means, "")
		x += 28 + wide(one.means, smallSize) + 16
	}
}

func (l *lines) text(x, y float64, anchor string, size float64, color, content, more string) {
	l.add(`<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%.0f" fill="%s"%s>%s</text>`, x, y, anchor, size, color, more, escape(content))
}

// escape makes foreign text a part of XML.
func escape(content string) string {
	var safe strings.Builder
	_ = xml.EscapeText(&safe, []byte(content)) // a strings.Builder has no errors
	return safe.String()
}
