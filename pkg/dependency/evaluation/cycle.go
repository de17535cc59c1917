package evaluation

import (
	"cmp"
	"errors"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
)

// cycleRule is the rule of Required edges, of any kind, that are on a cycle.
var cycleRule = rule{
	sentence: addOnSentence,
	describe: func(f *Finding) string { return catalog.CycleText(f.Cycle) },
}

// cycleInputs returns the inputs of the conditions of the add-on's conditional cycle.
func cycleInputs(c *catalog.Catalog, addOn string) input.Set {
	if cycle := c.WidestCycle(addOn); cycle != nil {
		return cycle.Inputs()
	}
	return 0
}

// search is the state of one search for the cycles of an add-on.
type search struct {
	budget budget
	// nextChange is the end of the first waiver that keeps the add-on from being on a cycle. It is zero without such a
	// waiver.
	nextChange time.Time
}

// earliest returns the earlier of two times. A zero time does not count.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// findCycles returns the cycles of the add-on on the cluster, by dependency. It includes conditional edges that certainly
// apply there.
func findCycles(c *catalog.Catalog, addOn string, state *State, s *search) map[string][]string {
	conditional := c.Conditional(addOn)
	if conditional == nil {
		return c.Cycles(addOn)
	}
	return conditional.Cycles(addOn, func(dependent string, condition catalog.Condition) bool {
		waits, err := isWaitedFor(c, dependent, condition, state, s)
		return waits && !errors.Is(err, errUnread) && !errors.Is(err, errTooMany)
	})
}

// isWaitedFor reports whether the dependent waits for an edge with this condition on the cluster. If an input is unread,
// the result is true with errUnread. Other errors come from the condition.
func isWaitedFor(c *catalog.Catalog, dependent string, condition catalog.Condition, state *State, s *search) (bool, error) {
	var unread error
	if condition.Templated {
		template, ok := activeVariant(c, dependent, state)
		switch {
		case !ok:
			unread = errUnread
		case template != condition.Template:
			return false, nil
		}
	}
	if condition.Overridden != nil {
		waits, ok := isWaitedForUnderPolicies(condition.Overridden, state, s)
		switch {
		case !ok:
			unread = errUnread
		case !waits:
			return false, nil
		}
	}
	if condition.When == nil {
		return true, unread
	}
	waits, err := applies(c, condition.When, dependent, state, &s.budget)
	return waits, cmp.Or(unread, err)
}

// isWaitedForUnderPolicies reports whether an overridden edge is waited for on the cluster. The second result is false if
// the effect of the policies is unknown. The search keeps the end of the first waiver.
func isWaitedForUnderPolicies(edge *declaration.Edge, state *State, s *search) (waits, ok bool) {
	effect := policy.Combine(edge.Overrides, state.Cluster.Labels, state.Cluster.Now)
	if effect.Waived {
		s.nextChange = earliest(s.nextChange, effect.Until)
	}
	return !effect.Waived && edge.Under(&effect).Dependency.Type == addonv1alpha1.DependencyTypeRequired, effect.Unknown == ""
}

// evaluateCycle sets the verdict and returns true if the edge is on one of the cycles.
func evaluateCycle(edge *declaration.Edge, cycles map[string][]string, f *Finding) bool {
	cycle := cycles[edge.AddOn]
	if len(cycle) == 0 || !edge.Waits() {
		return false
	}
	f.Verdict, f.Cycle = Cycle, cycle
	return true
}
