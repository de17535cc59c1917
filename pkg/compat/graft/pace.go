package graft

import "time"

// pace spaces out what has to be done again and again: the first time at once,
// then after first, doubling to last. After forget without it, the next one is
// a first one again.
type pace struct {
	first, last, forget time.Duration

	interval time.Duration
	at       time.Time
}

// wait returns how long it is too early to do it.
func (p *pace) wait(now time.Time) time.Duration {
	return max(0, p.at.Add(p.interval).Sub(now))
}

// did records that it was done, and reports whether it was the second time or
// a later one.
func (p *pace) did(now time.Time) (again bool) {
	again = p.interval > 0 && now.Sub(p.at) <= p.forget
	if again {
		p.interval = min(2*p.interval, p.last)
	} else {
		p.interval = p.first
	}
	p.at = now
	return again
}
