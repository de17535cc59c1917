package evaluation

import (
	"errors"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// circles has which add-ons wait for the evaluated one on the cluster, by Required edges or alternatives. It is nil for an
// add-on that no alternative can connect with itself.
type circles struct {
	addOn string
	// certain are the ways by edges that are known to apply, possible also those by edges that may.
	certain, possible *graph.WayBack
}

// circlesOn finds which add-ons wait for the named one.
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

// leads reports whether an alternative of the edge waits for the add-on. One of an Optional edge may.
func (c *circles) leads(edge *declaration.Edge, i int) bool {
	return c != nil && edge.Dependency.Type == addonv1alpha1.DependencyTypeRequired && c.certain.Leads(edge.Alternatives[i].AddOn)
}

// mayLead reports whether it is not known that it does not.
func (c *circles) mayLead(edge *declaration.Edge, i int) bool {
	return c != nil && edge.Dependency.Type == addonv1alpha1.DependencyTypeRequired && c.possible.Leads(edge.Alternatives[i].AddOn)
}
