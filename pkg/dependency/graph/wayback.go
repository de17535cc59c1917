package graph

import "slices"

// WayBack has the shortest paths to a target from all nodes that share a cycle with it. Of equally short paths, it
// has the first by name. It takes little memory, even for a node on many long cycles. It is immutable and safe for
// concurrent use.
type WayBack struct {
	graph  *Graph
	target int
	// next is the next node on the path from each node, or nowhere without a path.
	next []int
}

const nowhere = -1

// WayBackWhere returns the paths to a node on the edges for which applies is true. It is nil if the node has no cycle.
// applies is called at most once for each edge.
func (g *Graph) WayBackWhere(node string, applies func(dependent, dependency string) bool) *WayBack {
	id, ok := g.ids[node]
	if !ok || !g.onCycle(id) {
		return nil
	}
	return g.wayBack(id, nil, func(dependent, dependency int) bool { return applies(g.names[dependent], g.names[dependency]) })
}

// wayBack finds the shortest paths from the sources, and from all nodes that are nearer than the farthest source. If
// sources is nil, it finds all paths.
func (g *Graph) wayBack(target int, sources map[int]bool, applies func(dependent, dependency int) bool) *WayBack {
	paths := &WayBack{graph: g, target: target, next: slices.Repeat([]int{nowhere}, len(g.names))}
	remaining := len(sources)
	if sources[target] {
		remaining--
	}
	paths.next[target] = target
	for level := []int{target}; len(level) > 0 && (sources == nil || remaining > 0); {
		var farther []int
		for _, dependency := range level {
			for _, dependent := range g.predecessors[dependency] {
				if paths.next[dependent] != nowhere || g.components.byNode[dependent] != g.components.byNode[target] ||
					!applies(dependent, dependency) {
					continue
				}
				paths.next[dependent] = dependency
				farther = append(farther, dependent)
				if sources[dependent] {
					remaining--
				}
			}
		}
		slices.Sort(farther) // so that the first node by name is the next node of a path
		level = farther
	}
	return paths
}

func (w *WayBack) leads(node int) bool { return w.next[node] != nowhere }

// cycleThrough returns the nodes of the cycle from the target through one of its dependencies.
func (w *WayBack) cycleThrough(node int) []int {
	cycle := []int{w.target}
	for ; node != w.target; node = w.next[node] {
		cycle = append(cycle, node)
	}
	return cycle
}

// Leads reports whether a node has a path to the target. A nil WayBack has no paths.
func (w *WayBack) Leads(node string) bool {
	if w == nil {
		return false
	}
	id, ok := w.graph.ids[node]
	return ok && w.leads(id)
}

// Round returns the cycle from the target through one of its dependencies. It begins and ends at the target, and is nil
// without a path back.
func (w *WayBack) Round(dependency string) []string {
	if !w.Leads(dependency) {
		return nil
	}
	var names []string
	for _, node := range append(w.cycleThrough(w.graph.ids[dependency]), w.target) {
		names = append(names, w.graph.names[node])
	}
	return names
}

// Cycle returns the same cycle as Round, beginning and ending at its first member by name.
func (w *WayBack) Cycle(dependency string) []string {
	if !w.Leads(dependency) {
		return nil
	}
	return w.graph.canonical(w.cycleThrough(w.graph.ids[dependency]))
}
