package dependent

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// silence is how long addon-manager may take for its verdict on a new add-on:
// it takes less than a second, unless it is just being restarted.
const silence = 30 * time.Second

// said is what is known of an add-on's dependencies on one cluster.
type said struct {
	// degraded is the stored condition, nil if there is none.
	degraded *metav1.Condition
	// unsatisfied words the Required dependencies that are not satisfied, as
	// far as a look at the add-ons tells; empty for none. Only of interest while
	// degraded is not addon-manager's.
	unsatisfied string
	// beyond: some of the Required dependencies ask for more than to be
	// available, which such a look cannot tell.
	beyond bool
	// age of the add-on.
	age time.Duration
}

type step int

const (
	install  step = iota
	wait          // until addon-manager says something else
	askAgain      // soon
)

type decision struct {
	step    step
	message string // of what it waits for
}

// decide returns whether an add-on that has never been installed may be.
//
// addon-manager writes a verdict when something is not satisfied, and nothing
// where all has been from the start. So its silence is consent, but not on an
// add-on that it may not have seen yet: there, what the hub shows has to agree.
func decide(known said) decision {
	if known.degraded != nil && condition.Owned(known.degraded) {
		if evaluation.RequiredFails(known.degraded) {
			return decision{wait, known.degraded.Message}
		}
		return decision{step: install}
	}
	switch {
	case known.unsatisfied != "":
		return decision{askAgain, known.unsatisfied}
	case known.beyond && known.age < silence:
		return decision{askAgain, fmt.Sprintf("Interlock's addon-manager has %s to say whether the dependencies are satisfied.", silence)}
	default:
		return decision{step: install}
	}
}
