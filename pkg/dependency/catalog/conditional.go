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

// A Required edge with a condition is on a cycle only on clusters where the condition holds. An edge that policies
// override is on a cycle only where the policies leave it Required. Where every edge of a cycle applies, its members wait
// for each other as on any other cycle. The add-ons that such edges can connect into a cycle are found once. The edges
// that apply, and so the cycles, are found for each managed cluster.

// ConditionalCycle is a set of add-ons that are on cycles of Required edges if the conditions of some of these edges hold.
type ConditionalCycle struct {
	members []string // ascending
	// graph has all Required edges between members, as if every condition held.
	graph *graph.Graph
	// conditions has the conditions of edges that do not always apply, by dependent and dependency. The edge applies if any
	// of its conditions holds.
	conditions map[[2]string][]Condition
	inputs     input.Set
	// selects selects the edges of the graph. alternatives is true if one of them has alternatives.
	selects      edgeSelector
	alternatives bool
	// ways has the paths back to each member. It is set only if no edge has a condition.
	ways map[string]func() *graph.WayBack
	// reads finds its result once for all members, because there can be a hundred thousand conditions.
	reads func() []string
	// statement returns a text that is equal for equal conditional cycles.
	statement func() string
}

// Condition is the condition under which an edge applies.
type Condition struct {
	// When is the edge's own condition. It is nil if the edge applies wherever its declaration is in force.
	When *declaration.When
	// Templated is true if the add-on has several declarations. This declaration is in force where Template runs. If
	// Template is empty, it is in force where no template with a declaration runs.
	Templated bool
	Template  string
	// Overridden is the edge that policies override. It is nil if none does.
	Overridden *declaration.Edge
}

// inputs returns the inputs of the condition.
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

// edgeSelector selects edges that the dependent waits for, or may wait for because of policies.
type edgeSelector func(edge *declaration.Edge) bool

// requiredEdges selects Required edges without alternatives, and edges that policies may make Required.
func requiredEdges(edge *declaration.Edge) bool { return edge.MayWait() }

// requiredAndAlternatives also selects edges with alternatives.
func requiredAndAlternatives(edge *declaration.Edge) bool {
	return edge.MayWait() || edge.MayWaitForAny()
}

// eachWaiting calls a function with each selected edge between add-ons, its dependency, and its condition.
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

// Conditional returns the conditional cycle of the add-on. It is nil for an add-on without a conditional cycle.
func (c *Catalog) Conditional(addOn string) *ConditionalCycle { return c.conditional[addOn] }

// findConditionalCycles returns the conditional cycles by member.
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
			continue // this cycle is not conditional
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
		k.conditions = nil // frees the memory of deleted entries
	}
	k.graph = graph.New(required)
	k.reads = sync.OnceValue(k.findReads)
	k.statement = sync.OnceValue(func() string { return k.state(declarations) })
	return k
}

// certain reports whether an edge with these conditions always applies: each declaration of the add-on has the edge
// without a condition of its own.
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

// Members returns the add-ons in ascending order.
func (k *ConditionalCycle) Members() []string { return k.members }

// Inputs returns the inputs of the conditions of edges between members.
func (k *ConditionalCycle) Inputs() input.Set { return k.inputs }

// Reads returns the add-ons whose settings the conditions of edges between members read, in ascending order. They are
// shared and must not be changed.
func (k *ConditionalCycle) Reads() []string { return k.reads() }

func (k *ConditionalCycle) findReads() []string {
	var addOns []string
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

// Cycles returns the cycles of a member, like Catalog.Cycles, with the edges that apply on one managed cluster. It calls
// applies with a condition of the named dependent only when the search reaches its edge, and at most once.
func (k *ConditionalCycle) Cycles(addOn string, applies func(dependent string, condition Condition) bool) map[string][]string {
	known := map[[2]string]bool{}
	return k.graph.CyclesWhere(addOn, func(from, to string) bool { return k.does(known, from, to, applies) })
}

// applies reports whether an edge applies, and keeps the result in results. It evaluates each condition at most once.
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

// possible returns the cycles of the member that exist only if all conditions hold.
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

// text returns the statement of the conditional cycle. It is empty without a conditional cycle.
func (k *ConditionalCycle) text() string {
	if k == nil {
		return ""
	}
	return k.statement()
}
