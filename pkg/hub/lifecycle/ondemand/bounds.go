package ondemand

import (
	"sync"
	"time"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// In a minute, add-ons are installed or removed on 20 managed clusters, or on 5 % of the fleet, whichever is more.
const (
	clustersAMinute = 20
	percentAMinute  = 5
)

// reservedRetry is the time after which a change is tried again if others are about to use up the bounds. The API server
// may refuse them.
const reservedRetry = time.Second

// fleetBounds limits the number of managed clusters on which a change begins within a minute. Further changes on one of
// them do not count. It is safe for concurrent use.
type fleetBounds struct {
	mutex sync.Mutex
	// begun has the time of the last change on each managed cluster.
	begun map[string]time.Time
	// reserved has the managed clusters on which a change is about to begin.
	reserved map[string]bool
}

// reserve returns the time at which a change may begin on a managed cluster. If the change may begin now, the time is zero,
// and the managed cluster is reserved until begin or release is called. clusters is the size of the fleet.
func (b *fleetBounds) reserve(cluster string, clusters int, now time.Time) time.Time {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	oldest := now
	for name, start := range b.begun {
		switch {
		case now.Sub(start) >= time.Minute:
			delete(b.begun, name)
		case start.Before(oldest):
			oldest = start
		}
	}
	bound, counted := max(clustersAMinute, clusters*percentAMinute/100), len(b.begun)
	for name := range b.reserved {
		if _, begun := b.begun[name]; !begun { // else its slot may end before the change begins
			counted++
		}
	}
	switch _, begun := b.begun[cluster]; {
	case begun:
	case len(b.begun) >= bound:
		return oldest.Add(time.Minute)
	case counted >= bound:
		return now.Add(reservedRetry)
	}
	if b.reserved == nil {
		b.reserved = map[string]bool{}
	}
	b.reserved[cluster] = true
	return time.Time{}
}

// begin records that a change begins on a reserved managed cluster.
func (b *fleetBounds) begin(cluster string, now time.Time) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.begun == nil {
		b.begun = map[string]time.Time{}
	}
	b.begun[cluster] = now
	delete(b.reserved, cluster)
}

// restore counts the changes of the last minute that a former leader has begun.
func (b *fleetBounds) restore(installations []dependencyv1alpha1.AddOnInstallation, now time.Time) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for i := range installations {
		status := &installations[i].Status
		start, cluster := timeOf(status.Since), installations[i].Namespace
		if start.After(now) { // the clock of the former leader was ahead
			start = now
		}
		if status.Phase == dependencyv1alpha1.PhaseUnused || now.Sub(start) >= time.Minute || start.Before(b.begun[cluster]) {
			continue
		}
		if b.begun == nil {
			b.begun = map[string]time.Time{}
		}
		b.begun[cluster] = start
	}
}

// release ends the reservation of a managed cluster.
func (b *fleetBounds) release(cluster string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.reserved, cluster)
}
