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

// fleetBounds limits the number of managed clusters on which a change begins within a minute. Further changes on one of
// them do not count.
type fleetBounds struct {
	mutex sync.Mutex
	// begun has the time of the last change on each managed cluster.
	begun map[string]time.Time
}

// next returns the time at which a change may begin on a managed cluster. It is zero if the change may begin now. clusters
// is the size of the fleet.
func (b *fleetBounds) next(cluster string, clusters int, now time.Time) time.Time {
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
	if _, begun := b.begun[cluster]; begun || len(b.begun) < max(clustersAMinute, clusters*percentAMinute/100) {
		return time.Time{}
	}
	return oldest.Add(time.Minute)
}

// begin records that a change begins on a managed cluster.
func (b *fleetBounds) begin(cluster string, now time.Time) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.begun == nil {
		b.begun = map[string]time.Time{}
	}
	b.begun[cluster] = now
}
