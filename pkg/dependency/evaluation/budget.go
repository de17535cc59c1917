package evaluation

import "open-cluster-management.io/interlock/pkg/dependency/expression"

// costOfCondition is what a condition costs in addition to its expression.
const costOfCondition = 10

// budget limits what the expressions of one add-on cost together in one evaluation: as much as one expression may cost.
// The zero value is a whole budget.
type budget struct{ spent uint64 }

// begin takes the fixed cost of a condition. It reports false where nothing is left, and the condition must not be
// evaluated.
func (b *budget) begin() bool {
	if b.spent > expression.CostLimit {
		return false
	}
	b.spent += costOfCondition
	return true
}

// spend takes what an expression cost. The last one may exceed the budget.
func (b *budget) spend(cost uint64) { b.spent += cost }
