package dependency

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// A Required edge with a condition is on a cycle only where the condition
// holds. Where every edge of a cycle applies, its members wait for each other
// as on any other cycle; elsewhere there is none. So the add-ons that such
// edges could tie into a cycle are found once, as a knot; which of its edges
// apply, and so whether there is a cycle, is decided per managed cluster.

// knot is a set of add-ons that could all be on cycles of Required edges, if
// the conditions of some of these edges held.
type knot struct {
	members []string // ascending
	// graph has all Required edges between members, as if every condition held.
	graph *graph
	// conditions are those of the edges that do not always apply, by dependent
	// and dependency. One that holds is enough for the edge to apply.
	conditions map[[2]string][]*applicability
	uses       Uses
	// statement is all of this as text: equal for equal knots.
	statement string
}

// findKnots returns the knot of each add-on that is in one.
func findKnots(declarations map[string]Declaration) map[string]*knot {
	links := map[string][]link{}
	uncertain := false
	for addOn, declaration := range declarations {
		for i := range declaration.edges {
			e := &declaration.edges[i]
			if !e.waits() {
				continue
			}
			links[addOn] = append(links[addOn], link{to: e.on, required: true})
			uncertain = uncertain || e.when != nil
		}
	}
	if !uncertain {
		return nil
	}
	g := newGraph(links)
	byComponent := map[int]*knot{}
	for id, name := range g.names {
		component := g.cyclic[id]
		if component < 0 {
			continue
		}
		k := byComponent[component]
		if k == nil {
			k = &knot{}
			byComponent[component] = k
		}
		k.members = append(k.members, name)
	}
	knots := map[string]*knot{}
	for _, k := range byComponent {
		k.tie(declarations)
		if len(k.conditions) == 0 {
			continue // a cycle like any other
		}
		for _, member := range k.members {
			knots[member] = k
		}
	}
	return knots
}

// waits reports whether the dependent waits on the edge until an add-on is
// available, where the edge applies.
func (e *edge) waits() bool {
	return e.on != "" && e.declared.Type == addonv1alpha1.DependencyTypeRequired
}

// tie fills in the edges between the members.
func (k *knot) tie(declarations map[string]Declaration) {
	var statement strings.Builder
	links := make(map[string][]link, len(k.members))
	certain := map[[2]string]bool{}
	k.conditions = map[[2]string][]*applicability{}
	for _, from := range k.members {
		declaration := declarations[from]
		for i := range declaration.edges {
			e := &declaration.edges[i]
			if _, within := slices.BinarySearch(k.members, e.on); !e.waits() || !within {
				continue
			}
			fmt.Fprintf(&statement, "%q→%q", from, e.on)
			links[from] = append(links[from], link{to: e.on, required: true})
			ends := [2]string{from, e.on}
			if e.when == nil {
				certain[ends] = true
				continue
			}
			k.conditions[ends] = append(k.conditions[ends], e.when)
			fmt.Fprintf(&statement, " %q %q", e.declared.When.ClusterSelector.String(), e.declared.When.Expression)
		}
	}
	maps.DeleteFunc(k.conditions, func(ends [2]string, _ []*applicability) bool { return certain[ends] })
	for _, conditions := range k.conditions {
		for _, when := range conditions {
			k.uses |= when.uses()
		}
	}
	k.graph, k.statement = newGraph(links), statement.String()
}

// cycles are those of a member as Catalog.Cycles returns them, with the edges
// that apply on the cluster. It evaluates a condition only where the search
// gets to its edge, and at most once.
func (k *knot) cycles(addOn string, cluster *Cluster, observe func(addOn string) Observation) map[string][]string {
	known := map[[2]int]bool{}
	return k.graph.search(addOn, func(from, to int) bool {
		ends := [2]int{from, to}
		applies, evaluated := known[ends]
		if !evaluated {
			applies = k.applies(k.graph.names[from], k.graph.names[to], cluster, observe)
			known[ends] = applies
		}
		return applies
	})
}

// applies reports whether one of the edges between two members is known to
// apply on the cluster.
func (k *knot) applies(from, to string, cluster *Cluster, observe func(addOn string) Observation) bool {
	conditions, conditional := k.conditions[[2]string{from, to}]
	return !conditional || slices.ContainsFunc(conditions, func(when *applicability) bool {
		applies, err := when.applies(from, cluster, observe)
		return applies && !errors.Is(err, errConfigUnread)
	})
}

// possible are the cycles that the member would be on if all conditions held,
// but for those that it is on anyway.
func (k *knot) possible(addOn string, certain map[string][]string) [][]string {
	all := k.graph.cycles(addOn)
	var cycles [][]string
	for _, dependency := range slices.Sorted(maps.Keys(all)) {
		if _, anyway := certain[dependency]; !anyway {
			cycles = append(cycles, all[dependency])
		}
	}
	return cycles
}

// text is the statement of the knot, empty for none.
func (k *knot) text() string {
	if k == nil {
		return ""
	}
	return k.statement
}
