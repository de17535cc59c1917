// Package backoff limits how often something is repeated, such as the write of a
// condition that another writer keeps overwriting.
package backoff

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Limits space out repetitions.
type Limits struct {
	// First follows the first repetition. The delay doubles up to Last.
	First, Last time.Duration
	// Forget is the pause after which a repetition is a first one again.
	Forget time.Duration
}

// Delay spaces out the repetitions of one thing. The first happens at once.
type Delay struct {
	*Limits

	delay time.Duration
	at    time.Time
}

// Wait returns how long to wait until the next repetition.
func (d *Delay) Wait(now time.Time) time.Duration { return max(0, d.at.Add(d.delay).Sub(now)) }

// RepeatedWithin reports whether it was repeated within that time.
func (d *Delay) RepeatedWithin(pause time.Duration, now time.Time) bool {
	return d.delay > 0 && now.Sub(d.at) <= pause
}

// Record notes that it was repeated now, and reports whether that was soon after the
// repetition before.
func (d *Delay) Record(now time.Time) (again bool) {
	again = d.RepeatedWithin(d.Forget, now)
	if again {
		d.delay = min(2*d.delay, d.Last)
	} else {
		d.delay = d.First
	}
	d.at = now
	return again
}

// ofConditions has the effect that the writes of OCM's registration agent, which polls
// every 30 seconds, are corrected at once. A writer that repeats its write every second
// is corrected at most every 15 seconds.
var ofConditions = Limits{First: 500 * time.Millisecond, Last: 15 * time.Second, Forget: 25 * time.Second}

// contestedWithin: a condition that is overwritten once may have lost a race. One that is
// overwritten twice within this time is contested.
const contestedWithin = 5 * time.Minute

type written struct {
	content Content
	repeats Delay
}

// Tracker remembers the last write of each part of each object. It is safe
// for concurrent use. Call Forget for objects that are deleted.
type Tracker struct {
	clock clock.PassiveClock

	mutex sync.Mutex
	last  map[types.NamespacedName]parts
}

// parts are the last writes, one of each part. Few objects have more than one.
type parts []written

// of returns the last write of a part, or nil.
func (p parts) of(part string) *written {
	at := slices.IndexFunc(p, func(one written) bool { return one.content.part == part })
	if at < 0 {
		return nil
	}
	return &p[at]
}

// New returns an empty tracker.
func New(clk clock.PassiveClock) *Tracker {
	return &Tracker{clock: clk, last: map[types.NamespacedName]parts{}}
}

// Wait returns how long to wait before desired may be written to an object that
// does not have it. It is zero unless the last write had the same content, which
// another writer has overwritten since.
func (t *Tracker) Wait(key types.NamespacedName, desired Content) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last := t.last[key].of(desired.part)
	if last == nil || last.content != desired {
		return 0
	}
	return last.repeats.Wait(t.clock.Now())
}

// Repeats reports whether desired has the content of the last write, which another writer has overwritten
// since.
func (t *Tracker) Repeats(key types.NamespacedName, desired Content) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last := t.last[key].of(desired.part)
	return last != nil && last.content == desired
}

// Wrote records that desired was written. It reports whether the part is
// contested: the same content had to be written again for the second time or more.
func (t *Tracker) Wrote(key types.NamespacedName, desired Content) (contested bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.clock.Now()
	last := t.last[key].of(desired.part)
	if last == nil {
		t.last[key] = append(t.last[key], written{content: Content{part: desired.part}})
		last = t.last[key].of(desired.part)
	}
	if last.content != desired {
		last.content, last.repeats = desired, Delay{Limits: &ofConditions}
		return false
	}
	contested = last.repeats.RepeatedWithin(contestedWithin, now)
	last.repeats.Record(now)
	return contested
}

// Reached records that another writer has set the desired content. A later write of
// other content is then a change, and does not wait.
func (t *Tracker) Reached(key types.NamespacedName, stored Content) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if last := t.last[key].of(stored.part); last != nil && last.content != stored {
		t.last[key] = slices.DeleteFunc(t.last[key], func(one written) bool { return one.content.part == stored.part })
	}
}

// Forget drops what is remembered of an object that is deleted.
func (t *Tracker) Forget(key types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.last, key)
}
