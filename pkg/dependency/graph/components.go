package graph

import "slices"

// components are the strongly connected components of a graph: the largest sets of nodes that depend on each other.
type components struct {
	byNode  []int   // node → its component
	members [][]int // component → its nodes, ascending; dependencies come before dependents
	cyclic  []bool  // component → it has a cycle: several nodes, or one with an edge to itself
}

// findComponents runs Tarjan's algorithm with its own stack, so that memory bounds the length of a chain instead of the
// call stack.
func findComponents(edges [][]int) components {
	t := &tarjan{
		edges:      edges,
		order:      make([]int, len(edges)),
		low:        make([]int, len(edges)),
		onStack:    make([]bool, len(edges)),
		components: components{byNode: make([]int, len(edges))},
	}
	for node := range edges {
		if t.order[node] == 0 {
			t.visit(node)
		}
	}
	return t.components
}

type tarjan struct {
	edges      [][]int
	order      []int // order of discovery, from 1; 0 for an undiscovered node
	low        []int // smallest order reachable
	seen       int
	stack      []int
	onStack    []bool
	components components
}

type frame struct{ node, edge int }

func (t *tarjan) visit(root int) {
	frames := []frame{t.enter(root)}
	for len(frames) > 0 {
		top := &frames[len(frames)-1]
		if top.edge < len(t.edges[top.node]) {
			next := t.edges[top.node][top.edge]
			top.edge++
			switch {
			case t.order[next] == 0:
				frames = append(frames, t.enter(next))
			case t.onStack[next]:
				t.low[top.node] = min(t.low[top.node], t.order[next])
			}
			continue
		}
		t.leave(top.node)
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			parent := frames[len(frames)-1].node
			t.low[parent] = min(t.low[parent], t.low[top.node])
		}
	}
}

func (t *tarjan) enter(node int) frame {
	t.seen++
	t.order[node], t.low[node] = t.seen, t.seen
	t.stack = append(t.stack, node)
	t.onStack[node] = true
	return frame{node: node}
}

// leave completes a component if the node is its root.
func (t *tarjan) leave(node int) {
	if t.low[node] != t.order[node] {
		return
	}
	start := len(t.stack) - 1
	for t.stack[start] != node {
		start--
	}
	members := slices.Sorted(slices.Values(t.stack[start:]))
	t.stack = t.stack[:start]
	for _, member := range members {
		t.onStack[member] = false
		t.components.byNode[member] = len(t.components.members)
	}
	t.components.members = append(t.components.members, members)
	t.components.cyclic = append(t.components.cyclic, len(members) > 1 || slices.Contains(t.edges[node], node))
}
