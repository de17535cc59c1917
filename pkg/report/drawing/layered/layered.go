// Package layered places the nodes of a directed graph in columns, from dependents on the left to dependencies on the right, and
// routes its edges between them. It is the method of Sugiyama: layers, few crossings, short routes. The same input gives the same
// drawing.
package layered

import (
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// Distances in pixels.
const (
	rowGap    = 16.0 // between two boxes of a column
	laneGap   = 8.0  // between two routes, or a route and a box
	columnGap = 30.0 // between two columns, for routes to turn
	laneWidth = 10.0 // of a column without labels
)

// Node is a box. Its name is unique.
type Node struct {
	Name          string
	Width, Height float64
}

// Edge connects two nodes by their names. The size of its label is zero if it has no label.
type Edge struct {
	Dependent, Dependency   string
	LabelWidth, LabelHeight float64
}

// Point is a point in pixels, from the top left.
type Point struct{ X, Y float64 }

// Box is the rectangle of a node. X and Y are its center. All boxes of a column have the same width.
type Box struct {
	Point
	Width, Height float64
}

// Route is the line of an edge. Its points are pairs: a straight line connects the points of a pair, and a curve connects two pairs.
// It begins at the dependent. An edge from a node to itself has no points.
type Route struct {
	Points []Point
	Label  Point
	// Back is whether the route leads from right to left, because the edge closes a cycle.
	Back bool
}

// Drawing is a placed graph. Boxes and routes are in the order of nodes and edges.
type Drawing struct {
	Boxes         []Box
	Routes        []Route
	Width, Height float64
}

// Draw places a graph. Edges have to be between nodes of the list.
func Draw(nodes []Node, edges []Edge) Drawing {
	p := newPlan(nodes, edges)
	p.order()
	p.place()
	return p.drawing()
}

// cell is a node in its layer, or a piece of an edge that passes the layer.
type cell struct {
	layer, position int
	isNode          bool
	width, height   float64
	y               float64
	// left and right are the neighbors in the adjacent layers.
	left, right []*cell
}

// plan is a graph under placement. Even layers have nodes, odd layers have labels.
type plan struct {
	layers [][]*cell
	nodes  []*cell
	// chains has the cells of each edge, from left to right. It is empty for an edge from a node to itself.
	chains [][]*cell
	// back has the edges that lead from right to left.
	back []bool
}

func newPlan(nodes []Node, edges []Edge) *plan {
	p := &plan{chains: make([][]*cell, len(edges)), back: backward(edges)}
	forward := map[string][]string{}
	for i, edge := range edges {
		switch {
		case edge.Dependent == edge.Dependency:
		case p.back[i]:
			forward[edge.Dependency] = append(forward[edge.Dependency], edge.Dependent)
		default:
			forward[edge.Dependent] = append(forward[edge.Dependent], edge.Dependency)
		}
	}
	depths, last := graph.New(forward).Depths(), 0
	for _, depth := range depths {
		last = max(last, depth)
	}
	p.layers = make([][]*cell, 2*last+1)
	byName := map[string]*cell{}
	for _, node := range nodes {
		nodeCell := p.add(&cell{layer: 2 * (last - depths[node.Name]), isNode: true, width: node.Width, height: node.Height})
		byName[node.Name] = nodeCell
		p.nodes = append(p.nodes, nodeCell)
	}
	for i, edge := range edges {
		left, right := byName[edge.Dependent], byName[edge.Dependency]
		if p.back[i] {
			left, right = right, left
		}
		if edge.Dependent != edge.Dependency {
			p.chains[i] = p.connect(left, right, edge)
		}
	}
	return p
}

// backward reports for each edge whether it is drawn from right to left. In each cycle, these are the edges against the order of
// names.
func backward(edges []Edge) []bool {
	dependencies := map[string][]string{}
	for _, edge := range edges {
		dependencies[edge.Dependent] = append(dependencies[edge.Dependent], edge.Dependency)
	}
	cycles := map[string]int{}
	for i, members := range graph.New(dependencies).Cyclic() {
		for _, member := range members {
			cycles[member] = i + 1
		}
	}
	back := make([]bool, len(edges))
	for i, edge := range edges {
		back[i] = cycles[edge.Dependent] > 0 && cycles[edge.Dependent] == cycles[edge.Dependency] && edge.Dependent > edge.Dependency
	}
	return back
}

func (p *plan) add(cell *cell) *cell {
	cell.position = len(p.layers[cell.layer])
	p.layers[cell.layer] = append(p.layers[cell.layer], cell)
	return cell
}

// connect connects two nodes through a cell in each layer between them. The first of these cells has the label.
func (p *plan) connect(left, right *cell, edge Edge) []*cell {
	chain := []*cell{left}
	for layer := left.layer + 1; layer < right.layer; layer++ {
		lane := &cell{layer: layer, width: laneWidth}
		if layer == left.layer+1 {
			lane.width, lane.height = max(laneWidth, edge.LabelWidth), edge.LabelHeight
		}
		chain = append(chain, p.add(lane))
	}
	chain = append(chain, right)
	for i := range len(chain) - 1 {
		chain[i].right = append(chain[i].right, chain[i+1])
		chain[i+1].left = append(chain[i+1].left, chain[i])
	}
	return chain
}

func (p *plan) drawing() Drawing {
	d := Drawing{Boxes: make([]Box, len(p.nodes)), Routes: make([]Route, len(p.chains))}
	lefts, widths := make([]float64, len(p.layers)), make([]float64, len(p.layers))
	for i, layer := range p.layers {
		if i > 0 {
			d.Width += columnGap
		}
		lefts[i] = d.Width
		for _, cell := range layer {
			widths[i] = max(widths[i], cell.width)
			d.Height = max(d.Height, cell.y+cell.height/2)
		}
		d.Width += widths[i]
	}
	for i, node := range p.nodes {
		d.Boxes[i] = Box{Point{lefts[node.layer] + widths[node.layer]/2, node.y}, widths[node.layer], node.height}
	}
	for i, chain := range p.chains {
		d.Routes[i] = route(chain, p.back[i], lefts, widths)
	}
	return d
}

// route returns the line from the right side of the first cell to the left side of the last cell.
func route(chain []*cell, back bool, lefts, widths []float64) Route {
	r := Route{Back: back}
	for i, cell := range chain {
		start, end := Point{lefts[cell.layer], cell.y}, Point{lefts[cell.layer] + widths[cell.layer], cell.y}
		switch i {
		case 0:
			r.Points = append(r.Points, end, end)
		case len(chain) - 1:
			r.Points = append(r.Points, start, start)
		default:
			r.Points = append(r.Points, start, end)
		}
		if i == 1 {
			r.Label = Point{(start.X + end.X) / 2, cell.y}
		}
	}
	return r
}
