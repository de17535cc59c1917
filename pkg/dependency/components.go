package dependency

// cycleComponents numbers the strongly connected components of a graph that
// hold a cycle: more than one node, or a node with an edge to itself. Every
// other node gets -1. It is Tarjan's algorithm with a stack of its own, so
// that the length of a chain is bounded by memory, not by the call stack.
func cycleComponents(edges [][]int) []int {
	t := &tarjan{
		edges:     edges,
		order:     make([]int, len(edges)),
		low:       make([]int, len(edges)),
		onStack:   make([]bool, len(edges)),
		component: make([]int, len(edges)),
	}
	for node := range t.component {
		t.component[node] = -1
	}
	for node := range edges {
		if t.order[node] == 0 {
			t.visit(node)
		}
	}
	return t.component
}

type tarjan struct {
	edges     [][]int
	order     []int // 1-based order of discovery; 0: not seen
	low       []int // smallest order reachable
	seen      int
	stack     []int
	onStack   []bool
	component []int
	count     int
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

// leave closes the component that node is the root of, if it is one.
func (t *tarjan) leave(node int) {
	if t.low[node] != t.order[node] {
		return
	}
	start := len(t.stack) - 1
	for t.stack[start] != node {
		start--
	}
	members := t.stack[start:]
	t.stack = t.stack[:start]
	cyclic := len(members) > 1 || hasEdge(t.edges[node], node)
	for _, member := range members {
		t.onStack[member] = false
		if cyclic {
			t.component[member] = t.count
		}
	}
	if cyclic {
		t.count++
	}
}

func hasEdge(edges []int, to int) bool {
	for _, edge := range edges {
		if edge == to {
			return true
		}
	}
	return false
}
