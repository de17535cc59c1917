package resolution

import (
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// cycleIn describes a cycle that the declarations close: add-ons that wait for each other, so that none of them can be installed first.
// It returns an empty string if they close none.
func (p *problem) cycleIn(core []wish, sources []source) string {
	edges := map[string][]string{}
	for _, declaring := range sources {
		name := p.addOns[declaring.addOn].name
		for _, r := range p.wanted(core, declaring.addOn) {
			for _, w := range r.waitsFor {
				if w.source == declaring {
					edges[name] = append(edges[name], p.addOns[w.dependency].name)
				}
			}
		}
	}
	waits := graph.New(edges)
	for _, members := range waits.Cyclic() {
		cycles := waits.Cycles(members[0])
		for _, dependency := range slices.Sorted(maps.Keys(cycles)) {
			return catalog.CycleText(cycles[dependency])
		}
	}
	return ""
}

// wanted returns the selectable releases of an add-on that are in the ranges of the wishes.
func (p *problem) wanted(core []wish, id int) []*release {
	var releases []*release
	for i := range p.addOns[id].releases {
		excludes := func(w wish) bool { return w.addOn == id && !w.releases.contains(i) }
		if p.addOns[id].selectable.contains(i) && !slices.ContainsFunc(core, excludes) {
			releases = append(releases, p.candidate(id, i))
		}
	}
	return releases
}

// cycleWith describes the cycle that a release closes beside the other choices. It returns an empty string if it closes none.
func (p *problem) cycleWith(selection map[int]int, id, i int) string {
	budget := maxVisited
	w := cycleWalk{problem: p, selection: selection, goal: id, visited: map[int]bool{}, budget: &budget}
	path := w.path(p.candidate(id, i))
	if path == nil {
		return ""
	}
	cycle := append([]string{p.addOns[id].name}, path...)
	first := slices.Index(cycle, slices.Min(cycle)) // it begins at its first member by name, as everywhere
	cycle = slices.Concat(cycle[first:], cycle[:first])
	return catalog.CycleText(append(cycle, cycle[0]))
}

// cycleWalk searches for a path of Required edges back to an add-on.
type cycleWalk struct {
	*problem
	selection map[int]int
	goal      int
	visited   map[int]bool
	// budget is the number of releases that may still be visited. Only the explanation depends on it.
	budget *int
}

// maxVisited is the maximum number of releases on the search for a cycle.
const maxVisited = 1000

// path returns the add-ons between a release and the goal. It returns nil if there is no such path.
func (w *cycleWalk) path(r *release) []string {
	if *w.budget--; *w.budget < 0 {
		return nil
	}
	for _, edge := range r.requires {
		if edge.dependency == w.goal {
			return []string{}
		}
		if w.visited[edge.dependency] {
			continue
		}
		w.visited[edge.dependency] = true
		if rest := w.pathOf(edge.dependency); rest != nil {
			return append([]string{w.addOns[edge.dependency].name}, rest...)
		}
	}
	return nil
}

// pathOf returns the path from the chosen release of an add-on. If none is chosen, the path is that from its highest release, if all
// of its releases have one.
func (w *cycleWalk) pathOf(id int) []string {
	if chosen, ok := w.selection[id]; ok {
		return w.path(w.candidate(id, chosen))
	}
	var first []string
	for i, r := range w.wanted(nil, id) {
		own := *w
		own.visited = maps.Clone(w.visited)
		path := own.path(r)
		if path == nil {
			return nil
		}
		if i == 0 {
			first = path
		}
	}
	return first
}
