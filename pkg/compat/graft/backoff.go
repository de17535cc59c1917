package graft

import "time"

// backoff spaces out repetitions. The first happens at once, the next after
// first, and the delay doubles up to last. After a pause longer than forget it
// starts over.
type backoff struct {
	first, last, forget time.Duration

	delay time.Duration
	at    time.Time
}

// wait returns how long to wait until the next repetition.
func (b *backoff) wait(now time.Time) time.Duration {
	return max(0, b.at.Add(b.delay).Sub(now))
}

// repeated reports whether it happened not long before.
func (b *backoff) repeated(now time.Time) bool {
	return b.delay > 0 && now.Sub(b.at) <= b.forget
}

// record notes that it happened now, and reports whether it is a repetition.
func (b *backoff) record(now time.Time) (again bool) {
	again = b.repeated(now)
	if again {
		b.delay = min(2*b.delay, b.last)
	} else {
		b.delay = b.first
	}
	b.at = now
	return again
}
