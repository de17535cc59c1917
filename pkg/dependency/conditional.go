package dependency

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

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
	// certain are the Required edges between members that always apply.
	certain map[string][]link
	// uncertain are those with a condition.
	uncertain []uncertainLink
	uses      Uses
	// statement is all of this as text: equal for equal knots.
	statement string

	// known keeps the graphs for the sets of edges that applied somewhere.
	known sync.Map
}

type uncertainLink struct {
	from, to string
	when     *applicability
}

// maxKnown is up to how many conditions a knot keeps its graphs: there can be
// two to the power of them.
const maxKnown = 8

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
			k = &knot{certain: map[string][]link{}}
			byComponent[component] = k
		}
		k.members = append(k.members, name)
	}
	knots := map[string]*knot{}
	for _, k := range byComponent {
		k.tie(declarations)
		if len(k.uncertain) == 0 {
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
	for _, from := range k.members {
		declaration := declarations[from]
		for i := range declaration.edges {
			e := &declaration.edges[i]
			if _, within := slices.BinarySearch(k.members, e.on); !e.waits() || !within {
				continue
			}
			fmt.Fprintf(&statement, "%q→%q", from, e.on)
			if e.when == nil {
				k.certain[from] = append(k.certain[from], link{to: e.on, required: true})
				continue
			}
			k.uncertain = append(k.uncertain, uncertainLink{from: from, to: e.on, when: e.when})
			k.uses |= e.when.uses()
			fmt.Fprintf(&statement, " %q %q", e.declared.When.ClusterSelector.String(), e.declared.When.Expression)
		}
	}
	k.statement = statement.String()
}

// cycles are those of a member as Catalog.Cycles tells them, with the edges
// that apply on the cluster.
func (k *knot) cycles(addOn string, cluster *Cluster, observe func(addOn string) Observation) map[string][]string {
	applied := make([]byte, len(k.uncertain))
	for i, edge := range k.uncertain {
		// Of what cannot be known yet, no cycle is claimed.
		if applies, err := edge.when.applies(edge.from, cluster, observe); applies && !errors.Is(err, errConfigUnread) {
			applied[i] = 1
		}
	}
	if g, ok := k.known.Load(string(applied)); ok {
		return g.(*graph).cycles(addOn)
	}
	g := k.graph(applied)
	if len(k.uncertain) <= maxKnown {
		k.known.Store(string(applied), g)
	}
	return g.cycles(addOn)
}

func (k *knot) graph(applied []byte) *graph {
	links := make(map[string][]link, len(k.members))
	for from, certain := range k.certain {
		links[from] = slices.Clone(certain)
	}
	for i, edge := range k.uncertain {
		if applied[i] == 1 {
			links[edge.from] = append(links[edge.from], link{to: edge.to, required: true})
		}
	}
	return newGraph(links)
}

// possible are the cycles that the member would be on if all conditions held,
// but for those that it is on anyway.
func (k *knot) possible(addOn string, certain map[string][]string) [][]string {
	all := k.graph(slices.Repeat([]byte{1}, len(k.uncertain))).cycles(addOn)
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
