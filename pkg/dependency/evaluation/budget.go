package evaluation

import "open-cluster-management.io/interlock/pkg/dependency/declaration/expression"

// costOfCondition is the fixed cost of a condition, in addition to the cost of its expression.
const costOfCondition = 10

// budget limits the total cost of an add-on's expressions in one evaluation. The limit is the limit of a single
// expression. The zero value is a full budget.
type budget struct{ spent uint64 }

// begin spends the fixed cost of a condition. It returns false if the budget is exhausted. The condition must then not be
// evaluated.
func (b *budget) begin() bool {
	if b.spent > expression.CostLimit {
		return false
	}
	b.spent += costOfCondition
	return true
}

// spend subtracts the cost of an expression. The last expression may exceed the budget.
func (b *budget) spend(cost uint64) { b.spent += cost }
