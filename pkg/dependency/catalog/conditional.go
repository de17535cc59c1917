package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// A Required edge with a condition is on a cycle only where the condition
// holds, and one that policies override only where these do not make it another. Where every edge of a cycle applies, its members wait for each other
// as on any other cycle; elsewhere there is none. So the add-ons that such
// edges could tie into a cycle are found once. Which of these edges apply, and
// so whether there is a cycle, is decided per managed cluster.

// ConditionalCycle is a set of add-ons that could all be on cycles of Required
// edges, if the conditions of some of these edges held.
type ConditionalCycle struct {
	members []string // ascending
	// graph has all Required edges between members, as if every condition held.
	graph *graph.Graph
	// conditions are those of the edges that do not always apply, by dependent
	// and dependency. One that holds is enough for the edge to apply.
	conditions map[[2]string][]Condition
	inputs     input.Set
	// selects has the edges of the graph. alternatives is set where one of these has alternatives.
	selects      edgeSelector
	alternatives bool
	// ways are the ways back to each member, where no edge has a condition.
	ways map[string]func() *graph.WayBack
	// reads are found once for all members: the conditions can be a hundred thousand.
	reads func() []string
	// statement is all of this as text: equal for equal conditional cycles.
	statement func() string
}

// Condition is when an edge applies.
type Condition struct {
	// When is that of the edge; nil: wherever its declaration counts.
	When *declaration.When
	// Templated: the edge is of one of several declarations of the add-on. It counts where
	// Template runs; empty: where none runs that declares something.
	Templated bool
	Template  string
	// Overridden is the edge where policies say something of it; nil: none does.
	Overridden *declaration.Edge
}

// inputs are what the condition reads.
func (c Condition) inputs() input.Set {
	var inputs input.Set
	if c.When != nil {
		inputs = c.When.Inputs()
	}
	if c.Templated {
		inputs |= input.Template
	}
	if c.Overridden != nil {
		inputs |= input.Labels
	}
	return inputs
}

// edgeSelector selects edges that are waited for, or may be where policies say so.
type edgeSelector func(edge *declaration.Edge) bool

// requiredEdges selects Required edges without alternatives, and those that policies may make Required.
func requiredEdges(edge *declaration.Edge) bool { return edge.MayWait() }

// requiredAndAlternatives selects edges with alternatives too.
func requiredAndAlternatives(edge *declaration.Edge) bool {
	return edge.MayWait() || edge.MayWaitForAny()
}

// eachWaiting calls a function with each selected edge between add-ons, with the add-on that it is on, and with its
// condition.
func eachWaiting(declarations []variant, selects edgeSelector, call func(on string, edge *declaration.Edge, condition Condition)) {
	for _, v := range declarations {
		for i := range v.declared.Edges {
			edge := &v.declared.Edges[i]
			if !selects(edge) {
				continue
			}
			condition := Condition{When: edge.When, Templated: len(declarations) > 1, Template: v.template}
			if len(edge.Overrides) > 0 {
				condition.Overridden = edge
			}
			for end := range edge.Ends() {
				if end.AddOn != "" {
					call(end.AddOn, edge, condition)
				}
			}
		}
	}
}

// Conditional returns the conditional cycle that the add-on is a member of; nil
// for none.
func (c *Catalog) Conditional(addOn string) *ConditionalCycle { return c.conditional[addOn] }

// findConditionalCycles returns the conditional cycle of each member of one.
func findConditionalCycles(declarations map[string][]variant) map[string]*ConditionalCycle {
	required := map[string][]string{}
	uncertain := false
	for addOn, all := range declarations {
		eachWaiting(all, requiredEdges, func(on string, _ *declaration.Edge, condition Condition) {
			required[addOn] = append(required[addOn], on)
			uncertain = uncertain || condition != (Condition{})
		})
	}
	if !uncertain {
		return nil
	}
	found := map[string]*ConditionalCycle{}
	for _, members := range graph.New(required).Cyclic() {
		k := newConditionalCycle(members, declarations, requiredEdges)
		if len(k.conditions) == 0 {
			continue // a cycle like any other
		}
		for _, member := range members {
			found[member] = k
		}
	}
	return found
}

func newConditionalCycle(members []string, declarations map[string][]variant, selects edgeSelector) *ConditionalCycle {
	k := &ConditionalCycle{members: members, conditions: map[[2]string][]Condition{}, selects: selects}
	required := make(map[string][]string, len(members))
	for _, from := range members {
		eachWaiting(declarations[from], selects, func(on string, edge *declaration.Edge, condition Condition) {
			if _, within := slices.BinarySearch(members, on); !within {
				return
			}
			k.alternatives = k.alternatives || len(edge.Alternatives) > 0
			required[from] = append(required[from], on)
			ends := [2]string{from, on}
			k.conditions[ends] = append(k.conditions[ends], condition)
		})
	}
	maps.DeleteFunc(k.conditions, func(ends [2]string, conditions []Condition) bool {
		return certain(conditions, len(declarations[ends[0]]))
	})
	for _, conditions := range k.conditions {
		for _, condition := range conditions {
			k.inputs |= condition.inputs()
		}
	}
	if len(k.conditions) == 0 {
		k.conditions = nil // without the room for those that were deleted
	}
	k.graph = graph.New(required)
	k.reads = sync.OnceValue(k.findReads)
	k.statement = sync.OnceValue(func() string { return k.state(declarations) })
	return k
}

// certain reports whether an edge with these conditions always applies: each of the add-on's
// declarations has it without a condition of its own.
func certain(conditions []Condition, declarations int) bool {
	by := map[string]bool{}
	for _, condition := range conditions {
		if condition.When == nil && condition.Overridden == nil {
			by[condition.Template] = true
		}
	}
	return len(by) == declarations
}

func (k *ConditionalCycle) state(declarations map[string][]variant) string {
	var statement strings.Builder
	for _, from := range k.members {
		eachWaiting(declarations[from], k.selects, func(on string, edge *declaration.Edge, condition Condition) {
			if _, within := slices.BinarySearch(k.members, on); !within {
				return
			}
			fmt.Fprintf(&statement, "%q→%q", from, on)
			if condition.Templated {
				fmt.Fprintf(&statement, " in %q", condition.Template)
			}
			if when := edge.Dependency.When; when != nil {
				fmt.Fprintf(&statement, " %q %q", when.ClusterSelector.String(), when.Expression)
			}
			if condition.When != nil && len(condition.When.Reads) > 0 {
				fmt.Fprintf(&statement, " %q", condition.When.Reads)
			}
			for _, override := range edge.Overrides {
				fmt.Fprintf(&statement, " %q %q", edge.Dependency.Type, override)
			}
		})
	}
	return statement.String()
}

// Members returns the add-ons, ascending.
func (k *ConditionalCycle) Members() []string { return k.members }

// Inputs are what the conditions of edges between members read.
func (k *ConditionalCycle) Inputs() input.Set { return k.inputs }

// Reads returns the add-ons, ascending, whose settings the conditions of edges between members read. They are shared and must
// not be changed.
func (k *ConditionalCycle) Reads() []string { return k.reads() }

func (k *ConditionalCycle) findReads() (addOns []string) {
	for _, conditions := range k.conditions {
		for _, condition := range conditions {
			if condition.When == nil {
				continue
			}
			for _, read := range condition.When.Reads {
				addOns = append(addOns, read.AddOn)
			}
		}
	}
	slices.Sort(addOns)
	return slices.Compact(addOns)
}

// Cycles are those of a member as Catalog.Cycles returns them, with the edges
// that apply on one managed cluster. It calls applies, for a condition of the
// named dependent, only where the search gets to its edge, and at most once.
func (k *ConditionalCycle) Cycles(addOn string, applies func(dependent string, condition Condition) bool) map[string][]string {
	known := map[[2]string]bool{}
	return k.graph.CyclesWhere(addOn, func(from, to string) bool { return k.does(known, from, to, applies) })
}

// does reports whether an edge applies, and keeps that in known. It calls applies at most once for each condition.
func (k *ConditionalCycle) does(known map[[2]string]bool, from, to string, applies func(dependent string, condition Condition) bool) bool {
	ends := [2]string{from, to}
	does, evaluated := known[ends]
	if !evaluated {
		conditions, conditional := k.conditions[ends]
		does = !conditional || slices.ContainsFunc(conditions, func(condition Condition) bool { return applies(from, condition) })
		known[ends] = does
	}
	return does
}

// possible are the cycles that the member would be on if all conditions held,
// but for those that it is on anyway.
func (k *ConditionalCycle) possible(addOn string, certain map[string][]string) [][]string {
	if k == nil {
		return nil
	}
	all := k.graph.Cycles(addOn)
	var cycles [][]string
	for _, dependency := range slices.Sorted(maps.Keys(all)) {
		if _, anyway := certain[dependency]; !anyway {
			cycles = append(cycles, all[dependency])
		}
	}
	return cycles
}

// text is the statement of the conditional cycle, empty for none.
func (k *ConditionalCycle) text() string {
	if k == nil {
		return ""
	}
	return k.statement()
}
