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
	distance := g.distancesTo(id, wanted, applies)
	var cycles map[string][]string
	for _, dependency := range g.to[id] { // in order, because applies may have a limit
		if !wanted[dependency] || distance[dependency] < 0 {
			continue
		}
		if cycles == nil {
			cycles = map[string][]string{}
		}
		cycles[g.names[dependency]] = g.canonical(g.walk(id, dependency, distance, applies))
	}
	return cycles
}

// distancesTo counts the edges on the shortest way to the target from each of
// the wanted nodes, and from all that is nearer than the farthest of them; the
// rest is -1.
func (g *Graph) distancesTo(target int, wanted map[int]bool, applies func(from, to int) bool) []int {
	left := len(wanted)
	if wanted[target] {
		left--
	}
	distance := slices.Repeat([]int{-1}, len(g.names))
	distance[target] = 0
	for queue := []int{target}; len(queue) > 0 && left > 0; queue = queue[1:] {
		to := queue[0]
		for _, from := range g.from[to] {
			if distance[from] >= 0 || g.components.of[from] != g.components.of[target] || !applies(from, to) {
				continue
			}
			distance[from] = distance[to] + 1
			queue = append(queue, from)
			if wanted[from] {
				left--
			}
		}
	}
	return distance
}

// walk lists the nodes of the cycle that leaves start for next and returns by
// the shortest way, of equally short ones by the smallest names.
func (g *Graph) walk(start, next int, distance []int, applies func(from, to int) bool) []int {
	cycle := []int{start}
	for node := next; node != start; {
		cycle = append(cycle, node)
		if distance[node] == 1 {
			break
		}
		nearer := slices.IndexFunc(g.to[node], func(to int) bool {
			return distance[to] == distance[node]-1 && applies(node, to)
		})
		node = g.to[node][nearer]
	}
	return cycle
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
