// Package graph finds dependencies, dependents, reachable nodes, an order, and cycles. A node is a name.
package graph

import (
	"slices"
	"sync/atomic"
)

// Graph is a directed graph. It is immutable and safe for concurrent use. Callers must not
// change the slices and maps that it returns, because they are shared.
type Graph struct {
	// names has the names of the nodes by their numbers. The numbers have the order of the names.
	names []string
	ids   map[string]int

	// successors and predecessors are the numbers of the dependencies and dependents of each node, in ascending order.
	successors, predecessors [][]int
	dependencies, dependents [][]string
	components               components

	// cycles caches the cycles of each node. They are needed once per add-on
	// and managed cluster, and a search walks through the whole component.
	cycles []atomic.Pointer[map[string][]string]
}

// New builds a graph from a map of nodes to their dependencies. A dependency may be listed more than once, and does not
// need an entry of its own. Time and memory are linear in the number of edges, except for sorting.
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

	g.successors = make([][]int, len(g.names))
	g.predecessors = make([][]int, len(g.names))
	for dependent, name := range g.names {
		for _, dependency := range edges[name] {
			g.successors[dependent] = append(g.successors[dependent], g.ids[dependency])
		}
		slices.Sort(g.successors[dependent])
		g.successors[dependent] = slices.Compact(g.successors[dependent])
		for _, dependency := range g.successors[dependent] {
			g.predecessors[dependency] = append(g.predecessors[dependency], dependent)
		}
	}
	g.dependencies, g.dependents = g.named(g.successors), g.named(g.predecessors)
	g.components = findComponents(g.successors)
	g.cycles = make([]atomic.Pointer[map[string][]string], len(g.names))
	return g
}

// named returns the names of the nodes in each list.
func (g *Graph) named(lists [][]int) [][]string {
	names := make([][]string, len(lists))
	for node, list := range lists {
		for _, id := range list {
			names[node] = append(names[node], g.names[id])
		}
	}
	return names
}

// Dependencies returns the direct dependencies of a node, in ascending order.
func (g *Graph) Dependencies(node string) []string { return g.neighbors(node, g.dependencies) }

// Dependents returns the direct dependents of a node, in ascending order.
func (g *Graph) Dependents(node string) []string { return g.neighbors(node, g.dependents) }

func (g *Graph) neighbors(node string, lists [][]string) []string {
	id, ok := g.ids[node]
	if !ok {
		return nil
	}
	return lists[id]
}

// Reachable returns all direct and indirect dependencies of a node, in ascending order.
// They include the node itself only if it is on a cycle.
func (g *Graph) Reachable(node string) []string {
	id, ok := g.ids[node]
	if !ok {
		return nil
	}
	reached := make([]bool, len(g.names))
	for queue := []int{id}; len(queue) > 0; queue = queue[1:] {
		for _, dependency := range g.successors[queue[0]] {
			if !reached[dependency] {
				reached[dependency] = true
				queue = append(queue, dependency)
			}
		}
	}
	var names []string
	for id, isReached := range reached {
		if isReached {
			names = append(names, g.names[id])
		}
	}
	return names
}

// Between returns the nodes on all paths from the first nodes to the last node, in ascending order. An edge from the last
// node to a first node would turn such a path into a cycle.
func (g *Graph) Between(first []string, last string) []string {
	end, ok := g.ids[last]
	if !ok {
		return nil
	}
	var starts []int
	for _, name := range first {
		if id, ok := g.ids[name]; ok {
			starts = append(starts, id)
		}
	}
	leads, reached := mark(g.predecessors, []int{end}, -1), mark(g.successors, starts, end)
	var names []string
	for id, isReached := range reached {
		if isReached && leads[id] {
			names = append(names, g.names[id])
		}
	}
	return names
}

// mark returns the nodes that can be reached from the starts. It stops at the last node.
func mark(edges [][]int, starts []int, last int) []bool {
	marked := make([]bool, len(edges))
	for queue := starts; len(queue) > 0; queue = queue[1:] {
		if marked[queue[0]] {
			continue
		}
		marked[queue[0]] = true
		if queue[0] == last {
			continue
		}
		for _, neighbor := range edges[queue[0]] {
			if !marked[neighbor] {
				queue = append(queue, neighbor)
			}
		}
	}
	return marked
}

// Order returns all nodes, with dependencies before their dependents. Nodes that
// depend on each other, directly or indirectly, share an entry, in ascending order. The
// result is deterministic.
func (g *Graph) Order() [][]string { return g.named(g.components.members) }

// Cyclic returns each set of nodes that depend on each other, in ascending order. A node that
// depends on itself is such a set.
func (g *Graph) Cyclic() [][]string {
	var sets [][]int
	for component, members := range g.components.members {
		if g.components.cyclic[component] {
			sets = append(sets, members)
		}
	}
	return g.named(sets)
}

// Depths returns the number of edges of the longest path from each node. Nodes that
// depend on each other count as a single node.
func (g *Graph) Depths() map[string]int {
	depths, _ := g.Deepest()
	return depths
}

// Deepest returns the depths and, for each node with dependencies, the next node of its longest path. Of several
// such nodes, it is the first by name.
func (g *Graph) Deepest() (map[string]int, map[string]string) {
	depths, next := map[string]int{}, map[string]string{}
	for _, component := range g.Order() {
		depth, deepest := 0, ""
		for _, node := range component {
			for _, dependency := range g.Dependencies(node) {
				dependencyDepth, isOutside := depths[dependency] // nodes of this component have no depth yet
				if isOutside && (dependencyDepth+1 > depth || dependencyDepth+1 == depth && dependency < deepest) {
					depth, deepest = dependencyDepth+1, dependency
				}
			}
		}
		for _, node := range component {
			if depths[node] = depth; deepest != "" {
				next[node] = deepest
			}
		}
	}
	return depths, next
}
