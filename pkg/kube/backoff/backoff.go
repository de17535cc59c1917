// Package backoff limits repeated writes, such as writes of a condition that another
// writer keeps overwriting.
package backoff

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Limits has the delays between repetitions.
type Limits struct {
	// First is the delay after the first repetition. The delay doubles up to Last.
	First, Last time.Duration
	// Forget is the pause after which the delay starts again with First.
	Forget time.Duration
}

// Delay delays the repetitions of an action. The first repetition has no delay.
type Delay struct {
	*Limits

	delay        time.Duration
	lastRepeated time.Time
}

// Wait returns the time until the next repetition.
func (d *Delay) Wait(now time.Time) time.Duration {
	return max(0, d.lastRepeated.Add(d.delay).Sub(now))
}

// RepeatedWithin reports whether the last repetition is at most this long ago.
func (d *Delay) RepeatedWithin(pause time.Duration, now time.Time) bool {
	return d.delay > 0 && now.Sub(d.lastRepeated) <= pause
}

// Record records a repetition, and reports whether it came soon after the previous one.
func (d *Delay) Record(now time.Time) bool {
	soon := d.RepeatedWithin(d.Forget, now)
	if soon {
		d.delay = min(2*d.delay, d.Last)
	} else {
		d.delay = d.First
	}
	d.lastRepeated = now
	return soon
}

// conditionLimits are the limits for writes of conditions. OCM's registration agent polls
// every 30 seconds, so that its writes are corrected without delay. A writer that repeats
// its write every second is corrected every 15 seconds at most.
var conditionLimits = Limits{First: 500 * time.Millisecond, Last: 15 * time.Second, Forget: 25 * time.Second}

// contestedWithin is the time within which a condition that is overwritten twice counts as
// contested. A condition that is overwritten once may have lost a race.
const contestedWithin = 5 * time.Minute

type written struct {
	content Content
	repeats Delay
}

// Tracker tracks the last write of each part of each object. It is safe for
// concurrent use. Call Forget for deleted objects.
type Tracker struct {
	clock clock.PassiveClock

	mutex sync.Mutex
	last  map[types.NamespacedName]parts
}

// parts has the last write of each part of an object. Few objects have several parts.
type parts []written

// find returns the last write of a part, or nil.
func (p parts) find(part string) *written {
	i := slices.IndexFunc(p, func(w written) bool { return w.content.part == part })
	if i < 0 {
		return nil
	}
	return &p[i]
}

// New returns an empty tracker.
func New(clk clock.PassiveClock) *Tracker {
	return &Tracker{clock: clk, last: map[types.NamespacedName]parts{}}
}

// Wait returns the time to wait before the desired content may be written to an
// object that does not have it. It is zero unless another writer has overwritten
// the same content since the last write.
func (t *Tracker) Wait(key types.NamespacedName, desired Content) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last := t.last[key].find(desired.part)
	if last == nil || last.content != desired {
		return 0
	}
	return last.repeats.Wait(t.clock.Now())
}

// Repeats reports whether the desired content is the content of the last write. Another writer has
// overwritten it since then.
func (t *Tracker) Repeats(key types.NamespacedName, desired Content) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last := t.last[key].find(desired.part)
	return last != nil && last.content == desired
}

// Wrote records that the desired content was written. It reports whether the part
// is contested: the same content was written again for the second time or more.
func (t *Tracker) Wrote(key types.NamespacedName, desired Content) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.clock.Now()
	last := t.last[key].find(desired.part)
	if last == nil {
		t.last[key] = append(t.last[key], written{content: Content{part: desired.part}})
		last = t.last[key].find(desired.part)
	}
	if last.content != desired {
		last.content, last.repeats = desired, Delay{Limits: &conditionLimits}
		return false
	}
	contested := last.repeats.RepeatedWithin(contestedWithin, now)
	last.repeats.Record(now)
	return contested
}

// Reached records that another writer has set the desired content. A later write of
// different content is then a change, and does not wait.
func (t *Tracker) Reached(key types.NamespacedName, stored Content) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if last := t.last[key].find(stored.part); last != nil && last.content != stored {
		t.last[key] = slices.DeleteFunc(t.last[key], func(w written) bool { return w.content.part == stored.part })
	}
}

// Forget deletes the last writes of a deleted object.
func (t *Tracker) Forget(key types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.last, key)
}
