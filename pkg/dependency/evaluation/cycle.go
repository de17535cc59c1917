package evaluation

import (
	"errors"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
)

// cycleRule is that of a Required edge that is on a cycle of such edges, whatever
// kind it is else.
var cycleRule = rule{
	sentence: addOnSentence,
	found:    func(f *Finding) string { return catalog.CycleText(f.Cycle) },
}

// cycleInputs are what decides whether the edges of a conditional cycle apply.
func cycleInputs(c *catalog.Catalog, addOn string) input.Set {
	if conditional := c.Conditional(addOn); conditional != nil {
		return conditional.Inputs()
	}
	return 0
}

// cyclesOn returns the cycles of the add-on on the cluster, by dependency: with
// the conditional edges that are known to apply there.
func cyclesOn(c *catalog.Catalog, addOn string, state *State) map[string][]string {
	conditional := c.Conditional(addOn)
	if conditional == nil {
		return c.Cycles(addOn)
	}
	return conditional.Cycles(addOn, func(dependent string, condition catalog.Condition) bool {
		if condition.Templated {
			template, known := variantOf(c, dependent, state)
			if !known || template != condition.Template {
				return false
			}
		}
		if condition.Overridden != nil && !waitsUnder(condition.Overridden, state) {
			return false
		}
		if condition.When == nil {
			return true
		}
		does, err := applies(c, condition.When, dependent, state)
		return does && !errors.Is(err, errUnread) && !errors.Is(err, errTooMany)
	})
}

// waitsUnder reports whether an edge that policies override is waited for on the cluster. Where it is not
// known what they want, it is not. The state keeps when the first waiver ends.
func waitsUnder(edge *declaration.Edge, state *State) bool {
	effect := policy.Together(edge.Overrides, state.Cluster.Labels, state.Cluster.Now)
	if effect.Waived && (state.closes.IsZero() || effect.Until.Before(state.closes)) {
		state.closes = effect.Until
	}
	return !effect.Waived && effect.Unknown == "" && edge.Under(&effect).Waits()
}

// evaluateCycle reports whether the edge is on one of the cycles.
func evaluateCycle(edge *declaration.Edge, cycles map[string][]string, f *Finding) bool {
	cycle := cycles[edge.AddOn]
	if len(cycle) == 0 || !edge.Waits() {
		return false
	}
	f.Verdict, f.Cycle = Cycle, cycle
	return true
}
