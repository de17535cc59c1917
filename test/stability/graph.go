package stability

import "slices"

// graph holds all states that can be reached, and the steps between them.
type graph[S comparable] struct {
	states []S
	// edges of state i are edges[first[i]:first[i+1]].
	first []int32
	edges []edge
	// reached is the edge by which the shortest path enters each state. It is -1 for a start.
	reached []int32
	starts  int
}

// edge is a step that changes the state.
type edge struct {
	source, target int32
	step           uint8
}

// explore follows all steps from all starts, breadth first.
func explore[S comparable](starts []S, steps []step[S]) *graph[S] {
	g := &graph[S]{starts: len(starts)}
	index := make(map[S]int32, 4*len(starts))
	add := func(s S, incoming int32) int32 {
		if i, ok := index[s]; ok {
			return i
		}
		i := int32(len(g.states))
		index[s] = i
		g.states, g.reached = append(g.states, s), append(g.reached, incoming)
		return i
	}
	for _, s := range starts {
		add(s, -1)
	}
	for i := int32(0); int(i) < len(g.states); i++ {
		g.first = append(g.first, int32(len(g.edges)))
		current := g.states[i]
		for number := range steps {
			next := steps[number].next(current)
			if next == current {
				continue
			}
			id := int32(len(g.edges))
			g.edges = append(g.edges, edge{source: i, step: uint8(number)})
			g.edges[id].target = add(next, id)
		}
	}
	g.first = append(g.first, int32(len(g.edges)))
	return g
}

func (g *graph[S]) edgesFrom(i int32) []edge { return g.edges[g.first[i]:g.first[i+1]] }

// path returns the shortest path from a start to the state.
func (g *graph[S]) path(state int32) []edge {
	var path []edge
	for incoming := g.reached[state]; incoming >= 0; incoming = g.reached[g.edges[incoming].source] {
		path = append(path, g.edges[incoming])
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
	var components [][]int32
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
			if edges := g.edgesFrom(v); int(f.edge) < len(edges) {
				next := edges[f.edge].target
				f.edge++
				if order[next] == unseen {
					calls = append(calls, frame{state: next})
				} else if onStack[next] {
					low[v] = min(low[v], order[next])
				}
				continue
			}
			if low[v] == order[v] {
				start := slices.Index(stack, v)
				for _, member := range stack[start:] {
					onStack[member] = false
				}
				if len(stack)-start > 1 {
					components = append(components, slices.Clone(stack[start:]))
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
	return components
}

// livelocks returns the components in which a fair schedule can stay for ever: each step is either taken within the
// component, or has nothing to do in one of its states. A step that always has something to do is taken at some time,
// unless it belongs to the environment.
func (g *graph[S]) livelocks(steps []step[S]) [][]int32 {
	var livelocks [][]int32
	for _, component := range g.components() {
		members := memberSet(component)
		inside, idle := make([]bool, len(steps)), make([]bool, len(steps))
		for _, v := range component {
			enabled := make([]bool, len(steps))
			for _, e := range g.edgesFrom(v) {
				enabled[e.step] = true
				inside[e.step] = inside[e.step] || members[e.target]
			}
			for i := range enabled {
				idle[i] = idle[i] || !enabled[i]
			}
		}
		fair := true
		for i := range steps {
			fair = fair && (inside[i] || idle[i] || steps[i].environment)
		}
		if fair {
			livelocks = append(livelocks, component)
		}
	}
	return livelocks
}

// cycle returns the shortest cycle within the component through the edge.
func (g *graph[S]) cycle(component []int32, through edge) []edge {
	members := memberSet(component)
	incoming := map[int32]edge{}
	queue := []int32{through.target}
	for len(queue) > 0 && queue[0] != through.source {
		v := queue[0]
		queue = queue[1:]
		for _, e := range g.edgesFrom(v) {
			if _, seen := incoming[e.target]; members[e.target] && !seen && e.target != through.target {
				incoming[e.target] = e
				queue = append(queue, e.target)
			}
		}
	}
	var back []edge
	for v := through.source; v != through.target; v = incoming[v].source {
		back = append(back, incoming[v])
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
