// Package backoff limits how often a condition is written again that another
// writer keeps overwriting.
package backoff

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

// The first repeated write happens at once. Further ones wait for firstDelay,
// doubled each time up to lastDelay. After forgetAfter without a write, the next
// one is a first one again. So the writes of OCM's registration agent, which polls
// every 30 seconds, are corrected at once. A writer that repeats its write every
// second is corrected at most every 15 seconds.
const (
	firstDelay  = 500 * time.Millisecond
	lastDelay   = 15 * time.Second
	forgetAfter = 25 * time.Second
	// contestedWithin: a condition that is overwritten once may have lost a race.
	// One that is overwritten twice within this time is contested.
	contestedWithin = 5 * time.Minute
)

// content is what is compared of a condition: all but its times.
type content struct {
	status          metav1.ConditionStatus
	reason, message string
}

type written struct {
	content  content
	at       time.Time
	repeated bool // the write before had the same content
}

// Tracker remembers the last write of one condition on each object. It is safe
// for concurrent use. Call Forget for objects that are deleted.
type Tracker struct {
	clock   clock.PassiveClock
	backoff *flowcontrol.Backoff

	mutex sync.Mutex
	last  map[types.NamespacedName]written
}

// New returns an empty tracker.
func New(clk clock.Clock) *Tracker {
	backoff := flowcontrol.NewFakeBackOff(firstDelay, lastDelay, clk) // the constructor that takes a clock
	backoff.HasExpiredFunc = func(now, last time.Time, _ time.Duration) bool { return now.Sub(last) > forgetAfter }
	return &Tracker{clock: clk, backoff: backoff, last: map[types.NamespacedName]written{}}
}

// Wait returns how long to wait before desired may be written to an object that
// does not have it. It is zero unless the last write had the same content, which
// another writer has overwritten since.
func (t *Tracker) Wait(key types.NamespacedName, desired metav1.Condition) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last, ok := t.last[key]
	if !ok || last.content != contentOf(desired) {
		return 0
	}
	return max(0, t.backoff.Get(key.String())-t.clock.Since(last.at))
}

// Wrote records that desired was written. It reports whether the condition is
// contested: the same content had to be written again for the second time or more.
func (t *Tracker) Wrote(key types.NamespacedName, desired metav1.Condition) (contested bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.clock.Now()
	last, ok := t.last[key]
	repeated := ok && last.content == contentOf(desired)
	t.last[key] = written{content: contentOf(desired), at: now, repeated: repeated}
	if !repeated {
		t.backoff.DeleteEntry(key.String())
		return false
	}
	t.backoff.Next(key.String(), now)
	return last.repeated && now.Sub(last.at) < contestedWithin
}

// Reached records that another writer has set the desired condition. A later write of
// other content is then a change, and does not wait.
func (t *Tracker) Reached(key types.NamespacedName, stored metav1.Condition) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last, ok := t.last[key]
	if !ok || last.content == contentOf(stored) {
		return
	}
	delete(t.last, key)
	t.backoff.DeleteEntry(key.String())
}

// Forget drops what is remembered of an object that is deleted.
func (t *Tracker) Forget(key types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.last, key)
	t.backoff.DeleteEntry(key.String())
}

func contentOf(condition metav1.Condition) content {
	return content{status: condition.Status, reason: condition.Reason, message: condition.Message}
}
