package graph

import "slices"

// Cycles returns, for each dependency that is on a cycle together with the
// node, that cycle: the shortest, of equally short ones the smallest by name.
// It starts and ends at its smallest member. The result is nil for a node on no
// cycle.
func (g *Graph) Cycles(node string) map[string][]string {
	id, known := g.ids[node]
	if !known || !g.onCycle(id) {
		return nil
	}
	if found := g.cycles[id].Load(); found != nil {
		return *found
	}
	found := g.search(id, func(int, int) bool { return true })
	g.cycles[id].Store(&found)
	return found
}

// CyclesWhere is Cycles on only the edges for which applies is true. It calls
// applies only for edges that the search reaches, possibly more than once.
func (g *Graph) CyclesWhere(node string, applies func(from, to string) bool) map[string][]string {
	id, known := g.ids[node]
	if !known || !g.onCycle(id) {
		return nil
	}
	return g.search(id, func(from, to int) bool { return applies(g.names[from], g.names[to]) })
}

func (g *Graph) onCycle(id int) bool { return g.components.cyclic[g.components.of[id]] }

func (g *Graph) search(id int, applies func(from, to int) bool) map[string][]string {
	wanted := map[int]bool{}
	for _, dependency := range g.to[id] {
		if g.components.of[dependency] == g.components.of[id] && applies(id, dependency) {
			wanted[dependency] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	back := g.wayBack(id, wanted, applies)
	var cycles map[string][]string
	for _, dependency := range g.to[id] { // in order, because applies may have a limit
		if !wanted[dependency] || !back.leads(dependency) {
			continue
		}
		if cycles == nil {
			cycles = map[string][]string{}
		}
		cycles[g.names[dependency]] = g.canonical(back.from(dependency))
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
