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
type lapses struct {
	clock clock.PassiveClock

	mutex  sync.Mutex
	addOns map[types.NamespacedName]availabilityOf
}

// availabilityOf is what was last observed of an add-on.
type availabilityOf struct {
	// since is when it ceased to be available; zero: it is available, or never was.
	since time.Time
	// works is set while it is available.
	works bool
	// unwitnessed: it was not available when it was first looked up.
	unwitnessed bool
}

// created remembers an add-on that was not available yet, so nothing of it is to be tolerated.
func (l *lapses) created(addOn types.NamespacedName) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.addOns[addOn].works {
		l.set(addOn, availabilityOf{})
	}
}

func (l *lapses) forget(addOn types.NamespacedName) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.addOns, addOn)
}

// observe takes what an add-on is like, and returns since when it is not available.
func (l *lapses) observe(addOn types.NamespacedName, works bool) evaluation.Lapse {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	known, found := l.addOns[addOn]
	switch {
	case works:
		known = availabilityOf{works: true}
	case !found:
		known = availabilityOf{since: l.clock.Now(), unwitnessed: true}
	case known.works:
		known = availabilityOf{since: l.clock.Now()}
	}
	l.set(addOn, known)
	return evaluation.Lapse{Since: known.since, Unwitnessed: known.unwitnessed}
}

func (l *lapses) set(addOn types.NamespacedName, to availabilityOf) {
	if l.addOns == nil {
		l.addOns = map[types.NamespacedName]availabilityOf{}
	}
	l.addOns[addOn] = to
}
