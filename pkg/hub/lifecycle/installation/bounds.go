package installation

import (
	"sync"
	"time"
)

// Within a minute, add-ons are installed or removed on 20 managed clusters, or on 5 % of the fleet, whichever is more.
const (
	clustersAMinute = 20
	percentAMinute  = 5
)

// fleetBounds limits on how many managed clusters something begins within a minute. What else begins on one of them takes nothing.
type fleetBounds struct {
	mutex sync.Mutex
	// begun is when something began last, by managed cluster.
	begun map[string]time.Time
}

// next returns when something may begin on a managed cluster; zero: now. clusters is the size of the fleet.
func (b *fleetBounds) next(cluster string, clusters int, now time.Time) time.Time {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	oldest := now
	for other, at := range b.begun {
		switch {
		case now.Sub(at) >= time.Minute:
			delete(b.begun, other)
		case at.Before(oldest):
			oldest = at
		}
	}
	if _, begun := b.begun[cluster]; begun || len(b.begun) < max(clustersAMinute, clusters*percentAMinute/100) {
		return time.Time{}
	}
	return oldest.Add(time.Minute)
}

// begin records that something begins on a managed cluster.
func (b *fleetBounds) begin(cluster string, now time.Time) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.begun == nil {
		b.begun = map[string]time.Time{}
	}
	b.begun[cluster] = now
}
