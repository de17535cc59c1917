// Package outage remembers when managed clusters came back, and when addon-manager
// first saw what a loss left on an add-on. These moments are by the hub's clock. The
// times of conditions are not used: a managed cluster may have set them, and its
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

// Tracker remembers losses and returns. It is safe for concurrent use.
//
// The cache changes before its handlers run. So both handlers and controllers call
// it, and the first call counts.
type Tracker struct {
	clock clock.PassiveClock

	mutex sync.Mutex
	// started is when it was first used.
	started  time.Time
	clusters map[string]*cluster
}

type cluster struct {
	lost bool
	back time.Time
	// found is by add-on.
	firstSeen map[string]time.Time
}

// New returns a tracker that knows of no loss.
func New(clock clock.PassiveClock) *Tracker {
	return &Tracker{clock: clock, clusters: map[string]*cluster{}}
}

// Observe takes the status of a cluster's Available, and returns since when the
// cluster is back. That is at the earliest when the tracker was first used.
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

// Found returns when it was first called for the add-on, since Reported was
// called for it or its cluster was lost.
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

// Reported forgets when an add-on was found: its agent reports again, or it was
// removed.
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

// Forget forgets a cluster that was removed.
func (t *Tracker) Forget(name string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.clusters, name)
}

// now returns the time, and remembers the first.
func (t *Tracker) now() time.Time {
	now := t.clock.Now()
	if t.started.IsZero() {
		t.started = now
	}
	return now
}
