package evaluation

import (
	"errors"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// waiters has the add-ons that wait for the evaluated add-on on the cluster, through Required edges or alternatives. It is
// nil if no alternative can connect the add-on with itself.
type waiters struct {
	addOn string
	// certain has paths of edges that certainly apply. possible also has paths of edges that may apply.
	certain, possible *graph.WayBack
}

// findWaiters returns the add-ons that wait for the named add-on.
func findWaiters(c *catalog.Catalog, addOn string, state *State, s *search) *waiters {
	circular := c.Circular(addOn)
	if circular == nil {
		return nil
	}
	unknown := false
	certain := circular.WayBack(addOn, func(dependent string, condition catalog.Condition) bool {
		waits, err := isWaitedFor(c, dependent, condition, state, s)
		unknown = unknown || waits && errors.Is(err, errUnread)
		return waits && !errors.Is(err, errUnread)
	})
	result := &waiters{addOn: addOn, certain: certain, possible: certain}
	if unknown {
		result.possible = circular.WayBack(addOn, func(dependent string, condition catalog.Condition) bool {
			waits, _ := isWaitedFor(c, dependent, condition, state, s)
			return waits
		})
	}
	return result
}

// waits reports whether an alternative of the edge certainly waits for the add-on. Alternatives of Optional edges may do
// that.
func (w *waiters) waits(edge *declaration.Edge, i int) bool {
	return w != nil && edge.Dependency.Type == addonv1alpha1.DependencyTypeRequired && w.certain.Leads(edge.Alternatives[i].AddOn)
}

// mayWait reports whether an alternative of the edge possibly waits for the add-on.
func (w *waiters) mayWait(edge *declaration.Edge, i int) bool {
	return w != nil && edge.Dependency.Type == addonv1alpha1.DependencyTypeRequired && w.possible.Leads(edge.Alternatives[i].AddOn)
}
