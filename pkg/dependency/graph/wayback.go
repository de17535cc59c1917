package graph

import "slices"

// WayBack has the shortest ways to a node from the nodes on cycles with it, of equally short ones
// the smallest by name. It takes little memory, however many and long these ways are: a node with many edges
// can be on as many cycles. It does not change, and is safe for concurrent use.
type WayBack struct {
	graph *Graph
	to    int
	// next is the node that comes next on the way from a node; nowhere: there is no way.
	next []int
}

const nowhere = -1

// WayBackWhere returns the ways to a node on the edges for which applies is true, nil where the node is on no cycle. It
// calls applies once at most for each edge.
func (g *Graph) WayBackWhere(node string, applies func(from, to string) bool) *WayBack {
	id, known := g.ids[node]
	if !known || !g.onCycle(id) {
		return nil
	}
	return g.wayBack(id, nil, func(from, to int) bool { return applies(g.names[from], g.names[to]) })
}

// wayBack finds the shortest ways from each of the wanted nodes, and from all that is nearer than the farthest of
// them. Without wanted ones, it finds all.
func (g *Graph) wayBack(target int, wanted map[int]bool, applies func(from, to int) bool) *WayBack {
	back := &WayBack{graph: g, to: target, next: slices.Repeat([]int{nowhere}, len(g.names))}
	left := len(wanted)
	if wanted[target] {
		left--
	}
	back.next[target] = target
	for level := []int{target}; len(level) > 0 && (wanted == nil || left > 0); {
		var farther []int
		for _, to := range level {
			for _, from := range g.from[to] {
				if back.next[from] != nowhere || g.components.of[from] != g.components.of[target] || !applies(from, to) {
					continue
				}
				back.next[from] = to
				farther = append(farther, from)
				if wanted[from] {
					left--
				}
			}
		}
		slices.Sort(farther) // the smallest that leads on is found first
		level = farther
	}
	return back
}

func (w *WayBack) leads(from int) bool { return w.next[from] != nowhere }

// from lists the nodes of the cycle that leaves the target for a node.
func (w *WayBack) from(node int) []int {
	cycle := []int{w.to}
	for ; node != w.to; node = w.next[node] {
		cycle = append(cycle, node)
	}
	return cycle
}

// Leads reports whether there is a way from a node. Without any ways there is none.
func (w *WayBack) Leads(from string) bool {
	if w == nil {
		return false
	}
	id, known := w.graph.ids[from]
	return known && w.leads(id)
}

// Round lists the nodes of the cycle that leaves the node to which the ways lead for another one: it begins and ends
// there. It is nil where no way leads back.
func (w *WayBack) Round(through string) []string {
	if !w.Leads(through) {
		return nil
	}
	var names []string
	for _, node := range append(w.from(w.graph.ids[through]), w.to) {
		names = append(names, w.graph.names[node])
	}
	return names
}

// Cycle is Round as Graph.Cycles has it.
func (w *WayBack) Cycle(through string) []string {
	if !w.Leads(through) {
		return nil
	}
	return w.graph.canonical(w.from(w.graph.ids[through]))
}
