package dependent

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
)

// evaluationTime is how long addon-manager may take to evaluate a new add-on. It
// takes less than a second, unless it is being restarted.
const evaluationTime = 30 * time.Second

// inputs are the facts about an add-on's dependencies on one cluster that a decision needs.
type inputs struct {
	// degraded is the stored condition. It is nil if there is none.
	degraded *metav1.Condition
	// unsatisfied is the message of the Required dependencies that the library's own evaluation found unsatisfied. It is empty if
	// there are none. It is only set while Degraded is not addon-manager's.
	unsatisfied string
	// incomplete is set if the library cannot evaluate all Required dependencies.
	incomplete bool
	// age is the time since the add-on was created.
	age time.Duration
}

type step int

const (
	install step = iota
	wait         // until addon-manager sets another condition
	retry        // soon
)

type decision struct {
	step    step
	message string // message names the unsatisfied dependencies that the decision waits for.
}

// decide returns whether an add-on that has never been installed may be.
//
// addon-manager sets Degraded when a dependency is not satisfied, and leaves it unset if all are satisfied from the start. So an
// add-on without the condition may be installed, unless addon-manager may not have evaluated it yet. Then the library's own
// evaluation counts.
func decide(state inputs) decision {
	if state.degraded != nil && condition.Owned(state.degraded) {
		if availability.RequiredFails(state.degraded) {
			return decision{wait, state.degraded.Message}
		}
		return decision{step: install}
	}
	switch {
	case state.unsatisfied != "":
		return decision{retry, state.unsatisfied}
	case state.incomplete && state.age < evaluationTime:
		return decision{retry, fmt.Sprintf("Interlock's addon-manager has %s to evaluate the dependencies.", evaluationTime)}
	default:
		return decision{step: install}
	}
}
