package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
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
func eachWaiting(declarations []variant, selects edgeSelector, call func(target string, edge *declaration.Edge, condition Condition)) {
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
	for addOn, variants := range declarations {
		eachWaiting(variants, requiredEdges, func(target string, _ *declaration.Edge, condition Condition) {
			required[addOn] = append(required[addOn], target)
			uncertain = uncertain || condition != (Condition{})
		})
	}
	if !uncertain {
		return nil
	}
	cycles := map[string]*ConditionalCycle{}
	for _, members := range graph.New(required).Cyclic() {
		k := newConditionalCycle(members, declarations, requiredEdges)
		if len(k.conditions) == 0 {
			continue // this cycle is not conditional
		}
		for _, member := range members {
			cycles[member] = k
		}
	}
	return cycles
}

func newConditionalCycle(members []string, declarations map[string][]variant, selects edgeSelector) *ConditionalCycle {
	k := &ConditionalCycle{members: members, conditions: map[[2]string][]Condition{}, selects: selects}
	required := make(map[string][]string, len(members))
	for _, dependent := range members {
		eachWaiting(declarations[dependent], selects, func(target string, edge *declaration.Edge, condition Condition) {
			if _, ok := slices.BinarySearch(members, target); !ok {
				return
			}
			k.alternatives = k.alternatives || len(edge.Alternatives) > 0
			required[dependent] = append(required[dependent], target)
			ends := [2]string{dependent, target}
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
	k.statement = sync.OnceValue(func() string { return k.describe(declarations) })
	return k
}

// certain reports whether an edge with these conditions always applies: each declaration of the add-on has the edge
// without a condition of its own.
func certain(conditions []Condition, declarations int) bool {
	templates := map[string]bool{}
	for _, condition := range conditions {
		if condition.When == nil && condition.Overridden == nil {
			templates[condition.Template] = true
		}
	}
	return len(templates) == declarations
}

func (k *ConditionalCycle) describe(declarations map[string][]variant) string {
	var statement strings.Builder
	for _, dependent := range k.members {
		eachWaiting(declarations[dependent], k.selects, func(target string, edge *declaration.Edge, condition Condition) {
			if _, ok := slices.BinarySearch(k.members, target); !ok {
				return
			}
			fmt.Fprintf(&statement, "%q→%q", dependent, target)
			if condition.Templated {
				fmt.Fprintf(&statement, " in %q", condition.Template)
			}
			if w := edge.Dependency.When; w != nil {
				fmt.Fprintf(&statement, " %q %q", w.ClusterSelector.String(), w.Expression)
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
			for _, source := range condition.When.Reads {
				addOns = append(addOns, source.AddOn)
			}
		}
	}
	slices.Sort(addOns)
	return slices.Compact(addOns)
}

// Cycles returns the cycles of a member, like Catalog.Cycles, with the edges that apply on one managed cluster. It calls
// applies with a condition of the named dependent only when the search reaches its edge, and at most once.
func (k *ConditionalCycle) Cycles(addOn string, applies func(dependent string, condition Condition) bool) map[string][]string {
	results := map[[2]string]bool{}
	return k.graph.CyclesWhere(addOn, func(dependent, target string) bool { return k.applies(results, dependent, target, applies) })
}

// applies reports whether an edge applies, and keeps the result in results. It evaluates each condition at most once.
func (k *ConditionalCycle) applies(
	results map[[2]string]bool, dependent, target string, applies func(dependent string, condition Condition) bool,
) bool {
	ends := [2]string{dependent, target}
	result, evaluated := results[ends]
	if !evaluated {
		conditions, conditional := k.conditions[ends]
		result = !conditional || slices.ContainsFunc(conditions, func(condition Condition) bool { return applies(dependent, condition) })
		results[ends] = result
	}
	return result
}

// possible returns the cycles of the member that exist only if all conditions hold.
func (k *ConditionalCycle) possible(addOn string, certain map[string][]string) [][]string {
	if k == nil {
		return nil
	}
	cycles := k.graph.Cycles(addOn)
	var result [][]string
	for _, dependency := range slices.Sorted(maps.Keys(cycles)) {
		if _, ok := certain[dependency]; !ok {
			result = append(result, cycles[dependency])
		}
	}
	return result
}

// text returns the statement of the conditional cycle. It is empty without a conditional cycle.
func (k *ConditionalCycle) text() string {
	if k == nil {
		return ""
	}
	return k.statement()
}
