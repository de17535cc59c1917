package assess

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// unavailabilities has the time since when add-ons are not available, by the hub's clock. It has
// only add-ons whose unavailability an edge tolerates. Controllers look an add-on up when they
// evaluate such an edge, which happens after each change of the add-on.
type unavailabilities struct {
	clock clock.PassiveClock

	mutex  sync.Mutex
	addOns map[types.NamespacedName]availabilityState
}

// availabilityState is the last observed availability of an add-on.
type availabilityState struct {
	// since is the time when it became unavailable. It is zero if it is available, or never was.
	since time.Time
	// available is true while it is available.
	available bool
	// unwitnessed is true if it was unavailable already when it was first looked up.
	unwitnessed bool
}

// observeCreation records a new add-on. It was never available, so its unavailability is not tolerated.
func (l *unavailabilities) observeCreation(addOn types.NamespacedName) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.addOns[addOn].available {
		l.set(addOn, availabilityState{})
	}
}

func (l *unavailabilities) forget(addOn types.NamespacedName) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.addOns, addOn)
}

// observe records whether an add-on is available, and returns the time since when it is not.
func (l *unavailabilities) observe(addOn types.NamespacedName, available bool) evaluation.Lapse {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	state, ok := l.addOns[addOn]
	switch {
	case available:
		state = availabilityState{available: true}
	case !ok:
		state = availabilityState{since: l.clock.Now(), unwitnessed: true}
	case state.available:
		state = availabilityState{since: l.clock.Now()}
	}
	l.set(addOn, state)
	return evaluation.Lapse{Since: state.since, Unwitnessed: state.unwitnessed}
}

func (l *unavailabilities) set(addOn types.NamespacedName, state availabilityState) {
	if l.addOns == nil {
		l.addOns = map[types.NamespacedName]availabilityState{}
	}
	l.addOns[addOn] = state
}
