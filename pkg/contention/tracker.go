// Package contention bounds how often a condition is written again that
// somebody else keeps overwriting.
package contention

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

// The first write that somebody else makes necessary happens at once, further
// ones after firstDelay, doubling to lastDelay; after forgetAfter of quiet the
// next one is a first one again. OCM's registration agent, which polls every
// 30 seconds, is so corrected at once each time; a writer that insists every
// second is answered at most every 15.
const (
	firstDelay  = 500 * time.Millisecond
	lastDelay   = 15 * time.Second
	forgetAfter = 25 * time.Second
	// Being overwritten once can be a race that was lost; twice within this
	// time is a writer that insists.
	insistsWithin = 5 * time.Minute
)

// statement is what a condition says; its times do not count.
type statement struct {
	status          metav1.ConditionStatus
	reason, message string
}

type written struct {
	statement   statement
	at          time.Time
	overwritten bool // at least once, not long before
}

// Tracker remembers the last write of one condition on each object. It is safe
// for concurrent use; objects are to be forgotten when they are gone.
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

// Wait returns how long to wait before desired may be written to an object on
// which it is not stored: zero unless exactly that was written before and has
// been overwritten since.
func (t *Tracker) Wait(key types.NamespacedName, desired metav1.Condition) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last, ok := t.last[key]
	if !ok || last.statement != stated(desired) {
		return 0
	}
	return max(0, t.backoff.Get(key.String())-t.clock.Since(last.at))
}

// Wrote records that desired was written, and reports whether somebody else
// keeps overwriting it: that made it necessary for the second time, or more.
func (t *Tracker) Wrote(key types.NamespacedName, desired metav1.Condition) (contested bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.clock.Now()
	last, ok := t.last[key]
	again := ok && last.statement == stated(desired)
	t.last[key] = written{statement: stated(desired), at: now, overwritten: again}
	if !again {
		t.backoff.DeleteEntry(key.String())
		return false
	}
	t.backoff.Next(key.String(), now)
	return last.overwritten && now.Sub(last.at) < insistsWithin
}

// Reached records that another writer has set what is wanted now. Whatever is
// written next is then a change, and not an answer to a writer that insists.
func (t *Tracker) Reached(key types.NamespacedName, stored metav1.Condition) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last, ok := t.last[key]
	if !ok || last.statement == stated(stored) {
		return
	}
	delete(t.last, key)
	t.backoff.DeleteEntry(key.String())
}

// Forget drops what is known of an object that is gone.
func (t *Tracker) Forget(key types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.last, key)
	t.backoff.DeleteEntry(key.String())
}

func stated(condition metav1.Condition) statement {
	return statement{status: condition.Status, reason: condition.Reason, message: condition.Message}
}
