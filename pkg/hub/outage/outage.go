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
	found map[string]time.Time
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
	known := t.clusters[name]
	switch {
	case status == metav1.ConditionUnknown:
		t.clusters[name] = &cluster{lost: true}
		return time.Time{}
	case known == nil:
		return t.started
	case known.lost:
		known.lost, known.back = false, now
	case len(known.found) == 0 && now.Sub(known.back) >= evaluation.SettleTime:
		delete(t.clusters, name) // no verdict is held any more
	}
	return evaluation.Later(known.back, t.started)
}

// Found returns when it was first called for the add-on, since Reported was
// called for it or its cluster was lost.
func (t *Tracker) Found(addOn types.NamespacedName) time.Time {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.now()
	known := t.clusters[addOn.Namespace]
	if known == nil {
		known = &cluster{}
		t.clusters[addOn.Namespace] = known
	}
	if known.found == nil {
		known.found = map[string]time.Time{}
	}
	if _, ok := known.found[addOn.Name]; !ok {
		known.found[addOn.Name] = now
	}
	return known.found[addOn.Name]
}

// Reported forgets when an add-on was found: its agent reports again, or it was
// removed.
func (t *Tracker) Reported(addOn types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	known := t.clusters[addOn.Namespace]
	if known == nil {
		return
	}
	delete(known.found, addOn.Name)
	if len(known.found) == 0 && !known.lost && known.back.IsZero() {
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
