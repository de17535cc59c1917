package evaluation

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// errUnread: what an expression needs is not known yet.
var errUnread = errors.New("what the expression reads could not be read yet")

// errTooMany: the conditions of an add-on share what one expression may cost.
var errTooMany = errors.New("when was not evaluated: the conditions of the add-on together take too many steps")

// costOfCondition is what a condition costs in addition to its expression.
const costOfCondition = 10

// applies reports whether an edge of the named add-on applies on the cluster.
// Where the expression fails it does, and the error says why; errUnread
// alone says that it is not known.
func applies(declared *catalog.Catalog, when *declaration.When, addOn string, state *State) (bool, error) {
	cluster := &state.Cluster
	if state.spent > expression.CostLimit {
		return true, errTooMany
	}
	state.spent += costOfCondition
	if when.Selector != nil && !when.Selector.Matches(labels.Set(cluster.Labels)) {
		return false, nil
	}
	if when.Expression == nil {
		return true, nil
	}
	self := state.AddOns.Named(addOn)
	if when.Expression.Inputs().Any(input.Config) && self.ConfigUnread {
		return true, errUnread
	}
	version := ""
	if when.Expression.Inputs().Any(input.Version) {
		var known bool
		if version, known = cluster.versionOf(self, declared.Version(addOn)); !known {
			return true, errUnread
		}
	}
	holds, cost, err := when.Expression.Evaluate(expression.Variables{
		Cluster: variablesOf(cluster),
		AddOn:   expression.AddOn{Name: addOn, Labels: self.Labels, Annotations: self.Annotations, Version: version},
		Config:  self.Config,
	})
	state.spent += cost
	if err != nil {
		return true, fmt.Errorf("when.expression failed: %w", err)
	}
	return holds, nil
}
