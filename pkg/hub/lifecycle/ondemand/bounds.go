package ondemand

import (
	"sync"
	"time"
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
	bound := max(clustersAMinute, clusters*percentAMinute/100)
	switch _, begun := b.begun[cluster]; {
	case begun:
		return time.Time{}
	case len(b.begun) >= bound:
		return oldest.Add(time.Minute)
	case len(b.begun)+len(b.reserved) >= bound:
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

// release ends the reservation of a managed cluster.
func (b *fleetBounds) release(cluster string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.reserved, cluster)
}
