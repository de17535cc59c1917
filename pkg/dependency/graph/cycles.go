package graph

import "slices"

// Cycles returns the shortest cycle of a node through each of its dependencies. Of equally short
// cycles, it is the first by name. A cycle starts and ends at its first member by name. The result
// is nil for a node without a cycle.
func (g *Graph) Cycles(node string) map[string][]string {
	id, ok := g.ids[node]
	if !ok || !g.onCycle(id) {
		return nil
	}
	if cached := g.cycles[id].Load(); cached != nil {
		return *cached
	}
	cycles := g.search(id, func(int, int) bool { return true })
	g.cycles[id].Store(&cycles)
	return cycles
}

// CyclesWhere returns the cycles on edges for which applies is true. It calls
// applies only for edges that the search reaches, possibly more than once.
func (g *Graph) CyclesWhere(node string, applies func(dependent, dependency string) bool) map[string][]string {
	id, ok := g.ids[node]
	if !ok || !g.onCycle(id) {
		return nil
	}
	return g.search(id, func(dependent, dependency int) bool { return applies(g.names[dependent], g.names[dependency]) })
}

func (g *Graph) onCycle(id int) bool { return g.components.cyclic[g.components.byNode[id]] }

func (g *Graph) search(id int, applies func(dependent, dependency int) bool) map[string][]string {
	sources := map[int]bool{}
	for _, dependency := range g.successors[id] {
		if g.components.byNode[dependency] == g.components.byNode[id] && applies(id, dependency) {
			sources[dependency] = true
		}
	}
	if len(sources) == 0 {
		return nil
	}
	paths := g.wayBack(id, sources, applies)
	var cycles map[string][]string
	for _, dependency := range g.successors[id] { // in order, because applies may have a limit
		if !sources[dependency] || !paths.leads(dependency) {
			continue
		}
		if cycles == nil {
			cycles = map[string][]string{}
		}
		cycles[g.names[dependency]] = g.canonical(paths.cycleThrough(dependency))
	}
	return cycles
}

// canonical rotates a cycle to its smallest member and closes it there.
func (g *Graph) canonical(cycle []int) []string {
	first := slices.Index(cycle, slices.Min(cycle))
	names := make([]string, 0, len(cycle)+1)
	for i := range len(cycle) + 1 {
		names = append(names, g.names[cycle[(first+i)%len(cycle)]])
	}
	return names
}
