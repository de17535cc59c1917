package stability

import "slices"

// graph holds all states that can be reached, and the steps between them.
type graph[S comparable] struct {
	states []S
	// edges of state i are edges[first[i]:first[i+1]].
	first []int32
	edges []edge
	// reached is the edge by which a state was reached first, the shortest
	// way; -1 for a start.
	reached []int32
	starts  int
}

// edge is a step that changes the state.
type edge struct {
	from, to int32
	step     uint8
}

// explore follows all steps from all starts, breadth first.
func explore[S comparable](starts []S, steps []step[S]) *graph[S] {
	g := &graph[S]{starts: len(starts)}
	index := make(map[S]int32, 4*len(starts))
	add := func(s S, by int32) int32 {
		if i, known := index[s]; known {
			return i
		}
		i := int32(len(g.states))
		index[s] = i
		g.states, g.reached = append(g.states, s), append(g.reached, by)
		return i
	}
	for _, s := range starts {
		add(s, -1)
	}
	for i := int32(0); int(i) < len(g.states); i++ {
		g.first = append(g.first, int32(len(g.edges)))
		now := g.states[i]
		for number := range steps {
			next := steps[number].next(now)
			if next == now {
				continue
			}
			by := int32(len(g.edges))
			g.edges = append(g.edges, edge{from: i, step: uint8(number)})
			g.edges[by].to = add(next, by)
		}
	}
	g.first = append(g.first, int32(len(g.edges)))
	return g
}

func (g *graph[S]) of(i int32) []edge { return g.edges[g.first[i]:g.first[i+1]] }

// path returns the shortest way from a start to the state.
func (g *graph[S]) path(to int32) []edge {
	var path []edge
	for by := g.reached[to]; by >= 0; by = g.reached[g.edges[by].from] {
		path = append(path, g.edges[by])
	}
	slices.Reverse(path)
	return path
}

// components returns the strongly connected components of more than one
// state, by Tarjan's algorithm without recursion. No step leads from a state to
// itself, so a component of one state holds no cycle.
func (g *graph[S]) components() [][]int32 {
	const unseen = 0
	order, low := make([]int32, len(g.states)), make([]int32, len(g.states))
	onStack := make([]bool, len(g.states))
	var found [][]int32
	var stack []int32
	type frame struct{ state, edge int32 }
	var count int32
	for root := range g.states {
		if order[root] != unseen {
			continue
		}
		calls := []frame{{state: int32(root)}}
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			v := f.state
			if f.edge == 0 {
				count++
				order[v], low[v], onStack[v] = count, count, true
				stack = append(stack, v)
			}
			if edges := g.of(v); int(f.edge) < len(edges) {
				to := edges[f.edge].to
				f.edge++
				if order[to] == unseen {
					calls = append(calls, frame{state: to})
				} else if onStack[to] {
					low[v] = min(low[v], order[to])
				}
				continue
			}
			if low[v] == order[v] {
				start := slices.Index(stack, v)
				for _, member := range stack[start:] {
					onStack[member] = false
				}
				if len(stack)-start > 1 {
					found = append(found, slices.Clone(stack[start:]))
				}
				stack = stack[:start]
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				caller := calls[len(calls)-1].state
				low[caller] = min(low[caller], low[v])
			}
		}
	}
	return found
}

// livelocks returns the components in which a fair schedule can stay for ever:
// each step is either taken within the component, or has nothing to do in one of
// its states. A step that always has something to do is taken some day, unless it
// is one of the environment.
func (g *graph[S]) livelocks(steps []step[S]) [][]int32 {
	var found [][]int32
	for _, component := range g.components() {
		members := memberSet(component)
		taken, idle := make([]bool, len(steps)), make([]bool, len(steps))
		for _, v := range component {
			enabled := make([]bool, len(steps))
			for _, e := range g.of(v) {
				enabled[e.step] = true
				taken[e.step] = taken[e.step] || members[e.to]
			}
			for i := range enabled {
				idle[i] = idle[i] || !enabled[i]
			}
		}
		fair := true
		for i := range steps {
			fair = fair && (taken[i] || idle[i] || steps[i].environment)
		}
		if fair {
			found = append(found, component)
		}
	}
	return found
}

// cycle returns the shortest way round within the component through the edge.
func (g *graph[S]) cycle(component []int32, through edge) []edge {
	members := memberSet(component)
	by := map[int32]edge{}
	queue := []int32{through.to}
	for len(queue) > 0 && queue[0] != through.from {
		v := queue[0]
		queue = queue[1:]
		for _, e := range g.of(v) {
			if _, seen := by[e.to]; members[e.to] && !seen && e.to != through.to {
				by[e.to] = e
				queue = append(queue, e.to)
			}
		}
	}
	var back []edge
	for v := through.from; v != through.to; v = by[v].from {
		back = append(back, by[v])
	}
	slices.Reverse(back)
	return append([]edge{through}, back...)
}

func memberSet(component []int32) map[int32]bool {
	members := make(map[int32]bool, len(component))
	for _, v := range component {
		members[v] = true
	}
	return members
}
