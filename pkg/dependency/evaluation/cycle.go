package evaluation

import (
	"cmp"
	"errors"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
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
	if tied := c.Tied(addOn); tied != nil {
		return tied.Inputs()
	}
	return 0
}

// search is the progress of one search for the cycles of an add-on.
type search struct {
	budget budget
	// closes is when the first waiver ends of those without which the add-on might be on a cycle. It is zero without one.
	closes time.Time
}

// earliest returns the earlier of two moments. Zero is no moment.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// cyclesOn returns the cycles of the add-on on the cluster, by dependency: with
// the conditional edges that are known to apply there.
func cyclesOn(c *catalog.Catalog, addOn string, state *State, s *search) map[string][]string {
	conditional := c.Conditional(addOn)
	if conditional == nil {
		return c.Cycles(addOn)
	}
	return conditional.Cycles(addOn, func(dependent string, condition catalog.Condition) bool {
		does, err := waitsWhere(c, dependent, condition, state, s)
		return does && !errors.Is(err, errUnread) && !errors.Is(err, errTooMany)
	})
}

// waitsWhere reports whether an edge of the dependent with this condition is waited for on the cluster. Where that is not
// known yet it may be, with errUnread. Else the error is that of the condition.
func waitsWhere(c *catalog.Catalog, dependent string, condition catalog.Condition, state *State, s *search) (bool, error) {
	var unread error
	if condition.Templated {
		template, known := variantOf(c, dependent, state)
		switch {
		case !known:
			unread = errUnread
		case template != condition.Template:
			return false, nil
		}
	}
	if condition.Overridden != nil {
		waits, known := waitsUnder(condition.Overridden, state, s)
		switch {
		case !known:
			unread = errUnread
		case !waits:
			return false, nil
		}
	}
	if condition.When == nil {
		return true, unread
	}
	does, err := applies(c, condition.When, dependent, state, &s.budget)
	return does, cmp.Or(unread, err)
}

// waitsUnder reports whether an edge that policies override is waited for on the cluster, and whether it is known what
// they want. It keeps when the first waiver ends.
func waitsUnder(edge *declaration.Edge, state *State, s *search) (waits, known bool) {
	effect := policy.Together(edge.Overrides, state.Cluster.Labels, state.Cluster.Now)
	if effect.Waived {
		s.closes = earliest(s.closes, effect.Until)
	}
	return !effect.Waived && edge.Under(&effect).Dependency.Type == addonv1alpha1.DependencyTypeRequired, effect.Unknown == ""
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
