package degraded

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// opensWithin is how long Degraded of an add-on waits for its gate to be opened first.
const opensWithin = 2 * time.Second

// opening remembers since when add-ons wait for their gates to be opened. It has no others.
type opening struct {
	mutex sync.Mutex
	since map[types.NamespacedName]time.Time
}

// until returns until when an add-on waits that is to be opened; zero: it is not.
func (o *opening) until(addOn types.NamespacedName, opens bool, now time.Time) time.Time {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if !opens { // the usual case
		delete(o.since, addOn)
		return time.Time{}
	}
	since, known := o.since[addOn]
	if !known {
		if o.since == nil {
			o.since = map[types.NamespacedName]time.Time{}
		}
		since = now
		o.since[addOn] = since
	}
	return since.Add(opensWithin)
}
