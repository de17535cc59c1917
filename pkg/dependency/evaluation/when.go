package evaluation

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// errUnread means that an input of an expression is not known yet.
var errUnread = errors.New("what the expression reads could not be read yet")

// errTooMany means that the conditions of an add-on together exceed the budget.
var errTooMany = errors.New("when was not evaluated: the conditions of the add-on together take too many steps")

// applies reports whether an edge of the named add-on applies on the cluster. The result is true with an error if the
// expression fails, and with errUnread if an input is not known yet.
func applies(c *catalog.Catalog, condition *declaration.When, addOn string, state *State, b *budget) (bool, error) {
	if !b.begin() {
		return true, errTooMany
	}
	if condition.Selector != nil && !condition.Selector.Matches(labels.Set(state.Cluster.Labels)) {
		return false, nil
	}
	if condition.Expression == nil {
		return true, nil
	}
	variables, err := variablesFor(c, condition.Expression, condition.Reads, addOn, state)
	if err != nil {
		return true, err
	}
	holds, cost, err := condition.Expression.Evaluate(variables)
	b.spend(cost)
	if err != nil {
		return true, fmt.Errorf("when.expression failed: %w", err)
	}
	return holds, nil
}
