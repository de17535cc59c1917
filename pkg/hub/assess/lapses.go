package assess

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// lapses remembers since when add-ons are not available, by the hub's clock. It has only
// those that an edge tolerates: controllers look them up when they evaluate the edge, which
// is right after each change of the add-on.
type unavailabilities struct {
	clock clock.PassiveClock

	mutex  sync.Mutex
	addOns map[types.NamespacedName]availabilityState
}

// availabilityOf is what was last observed of an add-on.
type availabilityState struct {
	// since is when it ceased to be available; zero: it is available, or never was.
	since time.Time
	// works is set while it is available.
	available bool
	// unwitnessed: it was not available when it was first looked up.
	unwitnessed bool
}

// created remembers an add-on that was not available yet, so nothing of it is to be tolerated.
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

// observe takes what an add-on is like, and returns since when it is not available.
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
