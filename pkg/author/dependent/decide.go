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

// known is what is known of an add-on's dependencies on one cluster.
type known struct {
	// degraded is the stored condition, nil if there is none.
	degraded *metav1.Condition
	// unsatisfied is the message of the Required dependencies that are not satisfied
	// by the library's own evaluation; empty for none. It is only set while Degraded is
	// not addon-manager's.
	unsatisfied string
	// others is set where the library cannot evaluate all Required dependencies.
	others bool
	// age of the add-on.
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
	message string // what it waits for
}

// decide returns whether an add-on that has never been installed may be.
//
// addon-manager sets Degraded when a dependency is not satisfied, and leaves it unset
// where all are satisfied from the start. So an add-on without the condition may be
// installed, unless addon-manager may not have evaluated it yet. Then the library's
// own evaluation counts.
func decide(now known) decision {
	if now.degraded != nil && condition.Owned(now.degraded) {
		if availability.RequiredFails(now.degraded) {
			return decision{wait, now.degraded.Message}
		}
		return decision{step: install}
	}
	switch {
	case now.unsatisfied != "":
		return decision{retry, now.unsatisfied}
	case now.others && now.age < evaluationTime:
		return decision{retry, fmt.Sprintf("Interlock's addon-manager has %s to evaluate the dependencies.", evaluationTime)}
	default:
		return decision{step: install}
	}
}
