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
type circles struct {
	addOn string
	// certain has paths of edges that certainly apply. possible also has paths of edges that may apply.
	certain, possible *graph.WayBack
}

// findWaiters returns the add-ons that wait for the named add-on.
func circlesOn(c *catalog.Catalog, addOn string, state *State, s *search) *circles {
	circular := c.Circular(addOn)
	if circular == nil {
		return nil
	}
	unknown := false
	certain := circular.WayBack(addOn, func(dependent string, condition catalog.Condition) bool {
		does, err := waitsWhere(c, dependent, condition, state, s)
		unknown = unknown || does && errors.Is(err, errUnread)
		return does && !errors.Is(err, errUnread)
	})
	found := &circles{addOn: addOn, certain: certain, possible: certain}
	if unknown {
		found.possible = circular.WayBack(addOn, func(dependent string, condition catalog.Condition) bool {
			does, _ := waitsWhere(c, dependent, condition, state, s)
			return does
		})
	}
	return found
}

// waits reports whether an alternative of the edge certainly waits for the add-on. Alternatives of Optional edges may do
// that.
func (c *circles) leads(edge *declaration.Edge, i int) bool {
	return c != nil && edge.Dependency.Type == addonv1alpha1.DependencyTypeRequired && c.certain.Leads(edge.Alternatives[i].AddOn)
}

// mayWait reports whether an alternative of the edge possibly waits for the add-on.
func (c *circles) mayLead(edge *declaration.Edge, i int) bool {
	return c != nil && edge.Dependency.Type == addonv1alpha1.DependencyTypeRequired && c.possible.Leads(edge.Alternatives[i].AddOn)
}
