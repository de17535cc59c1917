package graft

import (
	"sync"
	"time"
)

// rereadAfter is when declarations are read again after a change of the CRD:
// once the API server has taken up the change, and once more for another API
// server of the hub that is late.
//
// Watches alone do not suffice. For about a second after the change, the API
// server serves the watches that were open before, and their objects lack the
// added fields. No later event corrects that, because the object does not change.
var rereadAfter = []time.Duration{time.Second, 10 * time.Second}

// rereads decides when declarations are read again. It is safe for concurrent use.
type rereads struct {
	mutex sync.Mutex
	since time.Time
	done  int // how many of rereadAfter
	stale bool
}

// start schedules all rereads. stale says that what was read before may be wrong.
func (r *rereads) start(now time.Time, stale bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.since, r.done, r.stale = now, 0, r.stale || stale
}

// take reports whether to read now, and when the next reread is due; 0: none is.
func (r *rereads) take(now time.Time) (due bool, next time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for r.done < len(rereadAfter) {
		if next = r.since.Add(rereadAfter[r.done]).Sub(now); next > 0 {
			return due, next
		}
		r.done++
		due, r.stale = true, false
	}
	return due, 0
}

// pending reports whether what was read may be older than the CRD.
func (r *rereads) pending() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.stale
}
