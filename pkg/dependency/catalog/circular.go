package catalog

import (
	"slices"
	"sync"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// An alternative that waits for its dependent, through Required edges or alternatives, never satisfies it: two add-ons
// that are each other's alternative would else keep each other up, or down, by which of them came first. Without such
// alternatives, what is waited for has no cycles but those of Required edges, which are reported. So there is one
// result, whatever came first.

// Circular has the add-ons that could wait for the named one, and for which it could wait, where alternatives are waited
// for as Required edges are. It is nil where no alternative connects them.
func (c *Catalog) Circular(addOn string) *ConditionalCycle { return c.circular[addOn] }

// Tied has the add-ons whose conditions can decide whether edges of the named one are on a cycle, or alternatives of
// it wait for itself; nil: there are none.
func (c *Catalog) Tied(addOn string) *ConditionalCycle {
	if circular := c.circular[addOn]; circular != nil {
		return circular // it has the members and conditions of the conditional cycle too
	}
	return c.conditional[addOn]
}

// findCircular returns, for each add-on that alternatives can connect into a cycle, all that are connected.
func findCircular(declarations map[string][]variant) map[string]*ConditionalCycle {
	if !anyAlternatives(declarations) {
		return nil
	}
	waits := make(map[string][]string, len(declarations))
	for addOn, all := range declarations {
		eachWaiting(all, requiredAndAlternatives, func(on string, _ *declaration.Edge, _ Condition) { waits[addOn] = append(waits[addOn], on) })
	}
	found := map[string]*ConditionalCycle{}
	for _, members := range graph.New(waits).Cyclic() {
		k := newConditionalCycle(members, declarations, requiredAndAlternatives)
		if !k.alternatives {
			continue
		}
		k.findWays()
		for _, member := range members {
			found[member] = k
		}
	}
	return found
}

func anyAlternatives(declarations map[string][]variant) bool {
	for _, all := range declarations {
		for _, v := range all {
			if slices.ContainsFunc(v.declared.Edges, func(edge declaration.Edge) bool { return edge.MayWaitForAny() }) {
				return true
			}
		}
	}
	return false
}

// findWays makes the ways back that are the same on all clusters.
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

// WayBack has the ways by which other members wait for the named one, with the edges that apply on one managed cluster. It
// calls applies as Cycles does.
func (k *ConditionalCycle) WayBack(addOn string, applies func(dependent string, condition Condition) bool) *graph.WayBack {
	if way := k.ways[addOn]; way != nil {
		return way()
	}
	known := map[[2]string]bool{}
	return k.graph.WayBackWhere(addOn, func(from, to string) bool { return k.does(known, from, to, applies) })
}

// circularEdges calls a function with each edge of a declaration that waits for alternatives, all of which wait for the
// add-on on every cluster, and with the cycle of the first.
func (c *Catalog) circularEdges(addOn string, declared declaration.Declaration, call func(edge int, cycle []string)) {
	k := c.circular[addOn]
	if k == nil {
		return
	}
	way := k.WayBack(addOn, func(string, Condition) bool { return false })
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		if edge.MayWaitForAny() && edge.When == nil && len(edge.Overrides) == 0 &&
			!slices.ContainsFunc(edge.Alternatives, func(one declaration.Edge) bool { return !way.Leads(one.AddOn) }) {
			call(i, way.Cycle(edge.Alternatives[0].AddOn))
		}
	}
}
