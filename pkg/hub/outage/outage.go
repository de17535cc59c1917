// Package outage records when lost managed clusters came back, and when addon-manager
// first observed the trace of a loss on an add-on. These times are by the hub's clock.
// The times in conditions are not used: a managed cluster may have set them, and its
// clock may be wrong.
package outage

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Tracker records the loss and the return of managed clusters. It is safe for concurrent use.
//
// The cache changes before its handlers run. So both handlers and controllers call
// it, and the first call counts.
type Tracker struct {
	clock clock.PassiveClock

	mutex sync.Mutex
	// started is the time of the first call.
	started  time.Time
	clusters map[string]*cluster
}

type cluster struct {
	lost bool
	back time.Time
	// firstSeen has the time when the loss was first observed on each add-on.
	firstSeen map[string]time.Time
}

// New returns a tracker without any loss.
func New(clock clock.PassiveClock) *Tracker {
	return &Tracker{clock: clock, clusters: map[string]*cluster{}}
}

// Observe records the status of a cluster's Available, and returns the time when the
// cluster came back. That time is never before the first call to the tracker.
func (t *Tracker) Observe(name string, status metav1.ConditionStatus) time.Time {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.now()
	c := t.clusters[name]
	switch {
	case status == metav1.ConditionUnknown:
		t.clusters[name] = &cluster{lost: true}
		return time.Time{}
	case c == nil:
		return t.started
	case c.lost:
		c.lost, c.back = false, now
	case len(c.firstSeen) == 0 && now.Sub(c.back) >= evaluation.SettleTime:
		delete(t.clusters, name) // no verdict is held any more
	}
	return evaluation.Later(c.back, t.started)
}

// FirstSeen records that an add-on still shows the loss of its cluster, and returns the time
// of the first such call. A new loss, or Reported, resets that time.
func (t *Tracker) FirstSeen(addOn types.NamespacedName) time.Time {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.now()
	c := t.clusters[addOn.Namespace]
	if c == nil {
		c = &cluster{}
		t.clusters[addOn.Namespace] = c
	}
	if c.firstSeen == nil {
		c.firstSeen = map[string]time.Time{}
	}
	if _, ok := c.firstSeen[addOn.Name]; !ok {
		c.firstSeen[addOn.Name] = now
	}
	return c.firstSeen[addOn.Name]
}

// Reported records that the agent of an add-on reports again, or that the add-on was removed.
func (t *Tracker) Reported(addOn types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	c := t.clusters[addOn.Namespace]
	if c == nil {
		return
	}
	delete(c.firstSeen, addOn.Name)
	if len(c.firstSeen) == 0 && !c.lost && c.back.IsZero() {
		delete(t.clusters, addOn.Namespace)
	}
}

// Forget drops a cluster that was removed.
func (t *Tracker) Forget(name string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.clusters, name)
}

// now returns the current time. The first call sets started.
func (t *Tracker) now() time.Time {
	now := t.clock.Now()
	if t.started.IsZero() {
		t.started = now
	}
	return now
}
