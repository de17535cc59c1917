// Package layered places the nodes of a directed graph in columns, from dependents on the
// left to dependencies on the right, and the ways of its edges between them. It is the
// method of Sugiyama: layers, few crossings, short ways. The same input gives the same
// drawing.
package layered

import (
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// Distances between what is drawn, in pixels.
const (
	rowGap  = 16.0 // between two boxes of a column
	laneGap = 8.0  // between two ways, or a way and a box
	turn    = 30.0 // between two columns, for ways to turn
	laneMin = 10.0 // the width of a column without labels
)

// Node is a box. Its name is unique.
type Node struct {
	Name          string
	Width, Height float64
}

// Edge leads from one node to another, with room for its label; zero: no label.
type Edge struct {
	From, To                string
	LabelWidth, LabelHeight float64
}

// Point is a place in pixels, from the top left.
type Point struct{ X, Y float64 }

// Box is where a node is: X and Y are its center. All of a column have one width.
type Box struct {
	Point
	Width, Height float64
}

// Way is where an edge is: points in pairs, straight from the first to the second of a
// pair, and a curve to the next pair. It begins at the dependent. An edge to a node
// itself has none.
type Way struct {
	Points []Point
	Label  Point
	// Back: it leads from right to left, because it closes a cycle.
	Back bool
}

// Drawing is a placed graph. Boxes and ways are in the order of nodes and edges.
type Drawing struct {
	Boxes         []Box
	Ways          []Way
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
	// left and right are the neighbors in the layers beside it.
	left, right []*cell
}

// plan is a graph that is being placed. Even layers are nodes, odd ones labels.
type plan struct {
	layers [][]*cell
	nodes  []*cell
	// chains are the cells of each edge, from left to right; nil for an edge to itself.
	chains [][]*cell
	back   []bool
}

func newPlan(nodes []Node, edges []Edge) *plan {
	p := &plan{chains: make([][]*cell, len(edges)), back: backward(edges)}
	forward := map[string][]string{}
	for i, edge := range edges {
		switch {
		case edge.From == edge.To:
		case p.back[i]:
			forward[edge.To] = append(forward[edge.To], edge.From)
		default:
			forward[edge.From] = append(forward[edge.From], edge.To)
		}
	}
	depths, last := graph.New(forward).Depths(), 0
	for _, depth := range depths {
		last = max(last, depth)
	}
	p.layers = make([][]*cell, 2*last+1)
	byName := map[string]*cell{}
	for _, node := range nodes {
		made := p.add(&cell{layer: 2 * (last - depths[node.Name]), isNode: true, width: node.Width, height: node.Height})
		byName[node.Name] = made
		p.nodes = append(p.nodes, made)
	}
	for i, edge := range edges {
		from, to := byName[edge.From], byName[edge.To]
		if p.back[i] {
			from, to = to, from
		}
		if edge.From != edge.To {
			p.chains[i] = p.chain(from, to, edge)
		}
	}
	return p
}

// backward finds the edges that are drawn from right to left: those that lead against
// the order of names inside of a cycle.
func backward(edges []Edge) []bool {
	all := map[string][]string{}
	for _, edge := range edges {
		all[edge.From] = append(all[edge.From], edge.To)
	}
	cycles := map[string]int{}
	for i, members := range graph.New(all).Cyclic() {
		for _, member := range members {
			cycles[member] = i + 1
		}
	}
	back := make([]bool, len(edges))
	for i, edge := range edges {
		back[i] = cycles[edge.From] > 0 && cycles[edge.From] == cycles[edge.To] && edge.From > edge.To
	}
	return back
}

func (p *plan) add(one *cell) *cell {
	one.position = len(p.layers[one.layer])
	p.layers[one.layer] = append(p.layers[one.layer], one)
	return one
}

// chain connects two nodes through a cell in each layer between them. The first has the
// label.
func (p *plan) chain(from, to *cell, edge Edge) []*cell {
	chain := []*cell{from}
	for layer := from.layer + 1; layer < to.layer; layer++ {
		between := &cell{layer: layer, width: laneMin}
		if layer == from.layer+1 {
			between.width, between.height = max(laneMin, edge.LabelWidth), edge.LabelHeight
		}
		chain = append(chain, p.add(between))
	}
	chain = append(chain, to)
	for i := range len(chain) - 1 {
		chain[i].right = append(chain[i].right, chain[i+1])
		chain[i+1].left = append(chain[i+1].left, chain[i])
	}
	return chain
}

// drawing returns where all is.
func (p *plan) drawing() Drawing {
	d := Drawing{Boxes: make([]Box, len(p.nodes)), Ways: make([]Way, len(p.chains))}
	lefts, widths := make([]float64, len(p.layers)), make([]float64, len(p.layers))
	for i, layer := range p.layers {
		if i > 0 {
			d.Width += turn
		}
		lefts[i] = d.Width
		for _, one := range layer {
			widths[i] = max(widths[i], one.width)
			d.Height = max(d.Height, one.y+one.height/2)
		}
		d.Width += widths[i]
	}
	for i, node := range p.nodes {
		d.Boxes[i] = Box{Point{lefts[node.layer] + widths[node.layer]/2, node.y}, widths[node.layer], node.height}
	}
	for i, chain := range p.chains {
		d.Ways[i] = way(chain, p.back[i], lefts, widths)
	}
	return d
}

// way leads from the right side of the first cell to the left side of the last one.
func way(chain []*cell, back bool, lefts, widths []float64) Way {
	w := Way{Back: back}
	for i, one := range chain {
		left, right := Point{lefts[one.layer], one.y}, Point{lefts[one.layer] + widths[one.layer], one.y}
		switch i {
		case 0:
			w.Points = append(w.Points, right, right)
		case len(chain) - 1:
			w.Points = append(w.Points, left, left)
		default:
			w.Points = append(w.Points, left, right)
		}
		if i == 1 {
			w.Label = Point{(left.X + right.X) / 2, one.y}
		}
	}
	return w
}
