package catalog

import (
	"slices"
	"sync"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// An alternative that waits for its dependent, through Required edges or alternatives, never satisfies the edge.
// Otherwise, two add-ons that are alternatives of each other would keep each other up or down, depending on their order.
// Without such alternatives, the only cycles are reported cycles of Required edges. So the result does not depend on the
// order of events.

// Circular returns the add-ons that can wait for the named add-on and that it can wait for, if alternatives wait like
// Required edges. It is nil if no alternative connects them.
func (c *Catalog) Circular(addOn string) *ConditionalCycle { return c.circular[addOn] }

// WidestCycle returns the add-ons whose conditions decide whether edges of the named add-on are on a cycle, or whether its
// alternatives wait for itself. It is nil without such add-ons.
func (c *Catalog) WidestCycle(addOn string) *ConditionalCycle {
	if circular := c.circular[addOn]; circular != nil {
		return circular // it also has the members and conditions of the conditional cycle
	}
	return c.conditional[addOn]
}

// findCircular returns the connected add-ons for each add-on that alternatives can connect into a cycle.
func findCircular(declarations map[string][]variant) map[string]*ConditionalCycle {
	if !anyAlternatives(declarations) {
		return nil
	}
	waits := make(map[string][]string, len(declarations))
	for addOn, variants := range declarations {
		eachWaiting(variants, requiredAndAlternatives, func(target string, _ *declaration.Edge, _ Condition) {
			waits[addOn] = append(waits[addOn], target)
		})
	}
	cycles := map[string]*ConditionalCycle{}
	for _, members := range graph.New(waits).Cyclic() {
		k := newConditionalCycle(members, declarations, requiredAndAlternatives)
		if !k.alternatives {
			continue
		}
		k.findWays()
		for _, member := range members {
			cycles[member] = k
		}
	}
	return cycles
}

func anyAlternatives(declarations map[string][]variant) bool {
	for _, variants := range declarations {
		for _, v := range variants {
			if slices.ContainsFunc(v.declared.Edges, func(edge declaration.Edge) bool { return edge.MayWaitForAny() }) {
				return true
			}
		}
	}
	return false
}

// findWays prepares the paths back to each member that are equal on all clusters.
func (k *ConditionalCycle) findWays() {
	if len(k.conditions) > 0 {
		return
	}
	k.ways = make(map[string]func() *graph.WayBack, len(k.members))
	for _, member := range k.members {
		k.ways[member] = sync.OnceValue(func() *graph.WayBack {
			return k.graph.WayBackWhere(member, func(string, string) bool { return true })
		})
	}
}

// WayBack returns the paths by which other members wait for the named add-on, through edges that apply on one managed
// cluster. It calls applies like Cycles.
func (k *ConditionalCycle) WayBack(addOn string, applies func(dependent string, condition Condition) bool) *graph.WayBack {
	if way := k.ways[addOn]; way != nil {
		return way()
	}
	results := map[[2]string]bool{}
	return k.graph.WayBackWhere(addOn, func(dependent, target string) bool { return k.applies(results, dependent, target, applies) })
}

// circularEdges calls a function with each edge whose alternatives all wait for the add-on on every cluster. cycle is the
// cycle through the first alternative.
func (c *Catalog) circularEdges(addOn string, d declaration.Declaration, call func(edge int, cycle []string)) {
	k := c.circular[addOn]
	if k == nil {
		return
	}
	way := k.WayBack(addOn, func(string, Condition) bool { return false })
	for i := range d.Edges {
		edge := &d.Edges[i]
		if edge.MayWaitForAny() && edge.When == nil && len(edge.Overrides) == 0 &&
			!slices.ContainsFunc(edge.Alternatives, func(alternative declaration.Edge) bool { return !way.Leads(alternative.AddOn) }) {
			call(i, way.Cycle(edge.Alternatives[0].AddOn))
		}
	}
}
