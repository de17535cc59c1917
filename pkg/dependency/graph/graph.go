// Package graph finds what depends on what: dependencies and dependents,
// what can be reached, an order, and cycles. Its nodes are names, and it knows
// nothing of what they name.
package graph

import (
	"slices"
	"sync/atomic"
)

// Graph is a directed graph. It does not change once built and is safe for
// concurrent use. The slices and maps that it returns are shared: they must not
// be changed.
type Graph struct {
	// names are the nodes. They are numbered in the order of their names, so
	// that a smaller number is a smaller name.
	names []string
	ids   map[string]int

	to, from                 [][]int // dependencies and dependents of a node, ascending
	dependencies, dependents [][]string
	components               components

	// cycles keeps the cycles that were found. They are needed once per add-on
	// and cluster, and a search costs a walk through the component.
	cycles []atomic.Pointer[map[string][]string]
}

// New builds the graph of edges, which maps a node to its dependencies. A
// dependency may be listed more than once and need have no entry of its own.
// Time and memory are linear in the number of edges, but for sorting.
func New(edges map[string][]string) *Graph {
	g := &Graph{ids: map[string]int{}}
	for node, dependencies := range edges {
		g.ids[node] = 0
		for _, dependency := range dependencies {
			g.ids[dependency] = 0
		}
	}
	for name := range g.ids {
		g.names = append(g.names, name)
	}
	slices.Sort(g.names)
	for id, name := range g.names {
		g.ids[name] = id
	}

	g.to = make([][]int, len(g.names))
	g.from = make([][]int, len(g.names))
	for from, name := range g.names {
		for _, dependency := range edges[name] {
			g.to[from] = append(g.to[from], g.ids[dependency])
		}
		slices.Sort(g.to[from])
		g.to[from] = slices.Compact(g.to[from])
		for _, to := range g.to[from] {
			g.from[to] = append(g.from[to], from)
		}
	}
	g.dependencies, g.dependents = g.named(g.to), g.named(g.from)
	g.components = findComponents(g.to)
	g.cycles = make([]atomic.Pointer[map[string][]string], len(g.names))
	return g
}

// named translates lists of nodes.
func (g *Graph) named(lists [][]int) [][]string {
	named := make([][]string, len(lists))
	for node, list := range lists {
		for _, id := range list {
			named[node] = append(named[node], g.names[id])
		}
	}
	return named
}

// Dependencies returns the nodes to which an edge leads from the node, ascending.
func (g *Graph) Dependencies(node string) []string { return g.of(node, g.dependencies) }

// Dependents returns the nodes from which an edge leads to the node, ascending.
func (g *Graph) Dependents(node string) []string { return g.of(node, g.dependents) }

func (g *Graph) of(node string, lists [][]string) []string {
	id, known := g.ids[node]
	if !known {
		return nil
	}
	return lists[id]
}

// Reachable returns all direct and indirect dependencies of the node, ascending.
// The node itself is among them only if it is on a cycle.
func (g *Graph) Reachable(node string) []string {
	id, known := g.ids[node]
	if !known {
		return nil
	}
	reached := make([]bool, len(g.names))
	for queue := []int{id}; len(queue) > 0; queue = queue[1:] {
		for _, to := range g.to[queue[0]] {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	var names []string
	for id, is := range reached {
		if is {
			names = append(names, g.names[id])
		}
	}
	return names
}

// Between returns the nodes, ascending, on all ways from one of the first nodes to the
// last one: they would be on cycles with edges from the last to the first ones.
func (g *Graph) Between(first []string, last string) []string {
	end, known := g.ids[last]
	if !known {
		return nil
	}
	var starts []int
	for _, name := range first {
		if id, known := g.ids[name]; known {
			starts = append(starts, id)
		}
	}
	leads, reached := mark(g.from, []int{end}, -1), mark(g.to, starts, end)
	var names []string
	for id, is := range reached {
		if is && leads[id] {
			names = append(names, g.names[id])
		}
	}
	return names
}

// mark finds what edges lead to from the nodes, but not beyond the last one.
func mark(edges [][]int, from []int, last int) []bool {
	marked := make([]bool, len(edges))
	for queue := from; len(queue) > 0; queue = queue[1:] {
		if marked[queue[0]] {
			continue
		}
		marked[queue[0]] = true
		if queue[0] == last {
			continue
		}
		for _, to := range edges[queue[0]] {
			if !marked[to] {
				queue = append(queue, to)
			}
		}
	}
	return marked
}

// Order returns all nodes, dependencies before their dependents. Nodes that
// depend on each other, directly or indirectly, share an entry, ascending. The
// order is the same for the same edges.
func (g *Graph) Order() [][]string { return g.named(g.components.members) }

// Cyclic returns, for each set of nodes that depend on each other, its
// members, ascending. A node that depends on itself is such a set.
func (g *Graph) Cyclic() [][]string {
	var sets [][]int
	for component, members := range g.components.members {
		if g.components.cyclic[component] {
			sets = append(sets, members)
		}
	}
	return g.named(sets)
}

// Depths returns, for each node, the number of edges of the longest way from it. Nodes that
// depend on each other count as one.
func (g *Graph) Depths() map[string]int {
	depths, _ := g.Deepest()
	return depths
}

// Deepest returns what Depths does, and for each node with a way from it the next node of the longest,
// of several that of the least name.
func (g *Graph) Deepest() (depths map[string]int, next map[string]string) {
	depths, next = map[string]int{}, map[string]string{}
	for _, together := range g.Order() {
		depth, to := 0, ""
		for _, node := range together {
			for _, dependency := range g.Dependencies(node) {
				before, outside := depths[dependency] // those that come together have none yet
				if outside && (before+1 > depth || before+1 == depth && dependency < to) {
					depth, to = before+1, dependency
				}
			}
		}
		for _, node := range together {
			if depths[node] = depth; to != "" {
				next[node] = to
			}
		}
	}
	return depths, next
}
