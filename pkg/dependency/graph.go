package dependency

import (
	"slices"
	"sync/atomic"
)

// link is an edge as the graph sees it.
type link struct {
	to string
	// required: whoever waits on this edge waits until the other is available.
	required bool
}

// graph holds the edges of all add-ons of a hub. Nodes are numbered in the
// order of their names, so that a smaller number is a smaller name.
type graph struct {
	names    []string
	ids      map[string]int
	required [][]int    // dependent → its Required dependencies, ascending
	reverse  [][]int    // dependency → its Required dependents, ascending
	all      [][]string // dependency → names of its dependents of any type, ascending
	cyclic   []int      // node → number of its cycle component, or -1

	// known keeps what cycles has found: it is asked once per add-on and
	// cluster, and the answer costs a walk through the component.
	known []atomic.Pointer[map[string][]string]
}

// newGraph builds the graph of edges, which maps a dependent to what it
// depends on, and may name it more than once. Time and memory are linear in the number of edges, but for sorting.
func newGraph(edges map[string][]link) *graph {
	g := &graph{ids: map[string]int{}}
	for dependent, dependencies := range edges {
		g.ids[dependent] = 0
		for _, dependency := range dependencies {
			g.ids[dependency.to] = 0
		}
	}
	for name := range g.ids {
		g.names = append(g.names, name)
	}
	slices.Sort(g.names)
	for id, name := range g.names {
		g.ids[name] = id
	}

	g.required = make([][]int, len(g.names))
	g.reverse = make([][]int, len(g.names))
	g.all = make([][]string, len(g.names))
	for from, dependent := range g.names {
		for _, dependency := range edges[dependent] {
			to := g.ids[dependency.to]
			if last := len(g.all[to]) - 1; last < 0 || g.all[to][last] != dependent {
				g.all[to] = append(g.all[to], dependent)
			}
			if dependency.required {
				g.required[from] = append(g.required[from], to)
			}
		}
		slices.Sort(g.required[from])
		g.required[from] = slices.Compact(g.required[from])
		for _, to := range g.required[from] {
			g.reverse[to] = append(g.reverse[to], from)
		}
	}
	g.cyclic = cycleComponents(g.required)
	g.known = make([]atomic.Pointer[map[string][]string], len(g.names))
	return g
}

// dependents returns the add-ons with an edge of any type on the named one.
// The slice is shared: it must not be changed.
func (g *graph) dependents(name string) []string {
	id, ok := g.ids[name]
	if !ok {
		return nil
	}
	return g.all[id]
}

// cycles returns, for each Required dependency of the named add-on that is on
// a cycle of Required edges together with it, that cycle: the shortest, of
// equally short ones the smallest by name, starting and ending at its smallest
// member. It is nil for an add-on on no cycle. The result is shared: it must
// not be changed.
func (g *graph) cycles(name string) map[string][]string {
	id, ok := g.ids[name]
	if !ok || g.cyclic[id] < 0 {
		return nil
	}
	if known := g.known[id].Load(); known != nil {
		return *known
	}
	cycles := g.search(name, always)
	g.known[id].Store(&cycles)
	return cycles
}

func always(_, _ int) bool { return true }

// search is cycles over the Required edges that apply.
func (g *graph) search(name string, applies func(from, to int) bool) map[string][]string {
	id, ok := g.ids[name]
	if !ok || g.cyclic[id] < 0 {
		return nil
	}
	wanted := map[int]bool{}
	for _, dependency := range g.required[id] {
		if g.cyclic[dependency] == g.cyclic[id] && applies(id, dependency) {
			wanted[dependency] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	distance := g.distancesTo(id, wanted, applies)
	var cycles map[string][]string
	for dependency := range wanted {
		if distance[dependency] < 0 {
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
func (g *graph) distancesTo(target int, wanted map[int]bool, applies func(from, to int) bool) []int {
	left := len(wanted)
	if wanted[target] {
		left--
	}
	distance := slices.Repeat([]int{-1}, len(g.names))
	distance[target] = 0
	for queue := []int{target}; len(queue) > 0 && left > 0; queue = queue[1:] {
		to := queue[0]
		for _, from := range g.reverse[to] {
			if distance[from] >= 0 || g.cyclic[from] != g.cyclic[target] || !applies(from, to) {
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
func (g *graph) walk(start, next int, distance []int, applies func(from, to int) bool) []int {
	cycle := []int{start}
	for node := next; node != start; {
		cycle = append(cycle, node)
		if distance[node] == 1 {
			break
		}
		nearer := slices.IndexFunc(g.required[node], func(to int) bool {
			return distance[to] == distance[node]-1 && applies(node, to)
		})
		node = g.required[node][nearer]
	}
	return cycle
}

// canonical rotates a cycle to its smallest member and closes it there.
func (g *graph) canonical(cycle []int) []string {
	first := slices.Index(cycle, slices.Min(cycle))
	names := make([]string, 0, len(cycle)+1)
	for i := range len(cycle) + 1 {
		names = append(names, g.names[cycle[(first+i)%len(cycle)]])
	}
	return names
}
