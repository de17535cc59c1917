package stability

import (
	"fmt"
	"strings"
)

// check explores the world. Every fair schedule has to end, no step may break an invariant, and the invariants of
// quiet states have to hold in every state that only its environment changes. Of each problem, check reports one of
// the shortest schedules.
func (m *lifecycleModel) check() result {
	g := explore(m.starts(), m.steps)
	exploration := result{states: len(g.states), edges: len(g.edges)}
	reported := map[string]bool{}
	report := func(problem string, schedule func() string) {
		if problem != "" && !reported[problem] {
			reported[problem] = true
			exploration.problems = append(exploration.problems, problem+":\n"+schedule())
		}
	}
	for _, component := range g.livelocks(m.steps) {
		report("never ends", func() string { return m.livelock(g, component) })
	}
	for _, e := range g.edges {
		report(m.brokenBy(&g.states[e.source], &g.states[e.target], &m.steps[e.step]),
			func() string { return m.schedule(g, append(g.path(e.source), e)) })
	}
	for i := range g.states {
		if m.quiet(g, int32(i)) {
			report(m.broken(&g.states[i]), func() string { return m.schedule(g, g.path(int32(i))) })
		}
	}
	if e, ok := m.differs(g); ok {
		report("ends elsewhere", func() string { return m.schedule(g, append(g.path(e.source), e)) })
	}
	return exploration
}

// quiet reports whether only the environment changes a state.
func (m *lifecycleModel) quiet(g *graph[LifecycleState], state int32) bool {
	for _, e := range g.edgesFrom(state) {
		if !m.steps[e.step].environment {
			return false
		}
	}
	return true
}

// differs returns a step to another leader that leads to a new result: after it, a schedule ends in an object in
// which no schedule ends without it.
func (m *lifecycleModel) differs(g *graph[LifecycleState]) (edge, bool) {
	incoming := make([][]edge, len(g.states))
	for _, e := range g.edges {
		incoming[e.target] = append(incoming[e.target], e)
	}
	ends := map[object][]int32{}
	for i := range g.states {
		if s := &g.states[i]; m.final(s) && m.quiet(g, int32(i)) {
			end := s.timeless()
			ends[end] = append(ends[end], int32(i))
		}
	}
	for _, states := range ends {
		reaches := m.statesBefore(g, incoming, states)
		for _, e := range g.edges {
			if m.steps[e.step].name == stepReplace && reaches[e.target] && !reaches[e.source] {
				return e, true
			}
		}
	}
	return edge{}, false
}

// final reports whether the change of inputs and the action of the user have both happened.
func (m *lifecycleModel) final(s *LifecycleState) bool {
	return (s.Changed || m.Before == m.After) && (s.Acted || m.User == noAction)
}

// statesBefore returns the states from which a schedule without a new leader reaches one of the states.
func (m *lifecycleModel) statesBefore(g *graph[LifecycleState], incoming [][]edge, states []int32) []bool {
	reaches := make([]bool, len(g.states))
	for next := states; len(next) > 0; {
		state := next[len(next)-1]
		next = next[:len(next)-1]
		if reaches[state] {
			continue
		}
		reaches[state] = true
		for _, e := range incoming[state] {
			if m.steps[e.step].name != stepReplace {
				next = append(next, e.source)
			}
		}
	}
	return reaches
}

// timeless returns the object without times and owners.
func (o object) timeless() object {
	for _, stored := range o.entries() {
		*stored &^= 1
	}
	o.Owned = 0
	return o
}

// livelock returns the schedule that leads into the component, and a short schedule that goes round in it.
func (m *lifecycleModel) livelock(g *graph[LifecycleState], component []int32) string {
	first, members := component[0], memberSet(component)
	for _, v := range component {
		if len(g.path(v)) < len(g.path(first)) {
			first = v
		}
	}
	for _, e := range g.edgesFrom(first) {
		if members[e.target] {
			return m.schedule(g, g.path(first)) + "  … and round and round:\n" + m.schedule(g, g.cycle(component, e))
		}
	}
	return ""
}

// schedule returns the steps as lines to read.
func (m *lifecycleModel) schedule(g *graph[LifecycleState], path []edge) string {
	lines := []string{"  in " + m.String()}
	if len(path) > 0 {
		lines = append(lines, "  from "+g.states[path[0].source].String())
	}
	for number, e := range path {
		lines = append(lines, fmt.Sprintf("  %d. %s%s", number+1, m.steps[e.step].name, g.states[e.source].difference(&g.states[e.target])))
	}
	return strings.Join(lines, "\n") + "\n"
}

// difference returns the fields of an add-on that a step changes.
func (s LifecycleState) difference(after *LifecycleState) string {
	var parts []string
	add := func(name string, before, after any) {
		if before != after {
			parts = append(parts, fmt.Sprintf("%s %v → %v", name, before, after))
		}
	}
	add("Gate", gateValues[s.Gate], gateValues[after.Gate])
	entries := after.entries()
	for i, stored := range s.entries() {
		add(kinds[i], *stored, *entries[i])
	}
	add("Registered", s.Registered, after.Registered)
	add("Desired", s.Desired, after.Desired)
	add("Applied", s.Applied, after.Applied)
	add("Related", s.Related, after.Related)
	add("Mode", healthChecks[s.Mode], healthChecks[after.Mode])
	add("Deleted", s.Deleted, after.Deleted)
	add("Opening", s.Opening, after.Opening)
	add("Label", labels[s.Label], labels[after.Label])
	add("addon-agent", s.Memory.recollection(), after.Memory.recollection())
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
