package installation

import (
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/undone"
)

// History remembers what was installed, or removed, and when. Its zero value remembers nothing. It is not safe for concurrent use.
type History struct {
	// Rest is how long a target that was undone is not done again in any case.
	Rest time.Duration

	tries map[Target]try
}

// try is when a target was installed last, and how many times since it was undone for the first time.
type try struct {
	at    time.Time
	count int
	// asked is since when what asks for it has been there; zero: always.
	asked time.Time
}

// Asked remembers since when what asks for a target has been there. Nothing asked for a target that went before, so it was not undone.
func (h *History) Asked(target Target, since time.Time) {
	if h.tries == nil {
		h.tries = map[Target]try{}
	}
	tried := h.tries[target]
	tried.asked = since
	h.tries[target] = tried
}

// AskedSince returns since when what asked for a target had been there when it was installed last; zero: not known.
func (h *History) AskedSince(target Target) time.Time { return h.tries[target].asked }

// Installed remembers that a target is being installed.
func (h *History) Installed(target Target, now time.Time) {
	if h.tries == nil {
		h.tries = map[Target]try{}
	}
	before := h.tries[target]
	if now.Sub(before.at) > before.pause()+undone.Within+h.Rest { // it stayed for a while
		before.count = 0
	}
	if before.undone() || before.count == 0 {
		before.count++
	}
	h.tries[target] = try{at: now, count: before.count, asked: before.asked}
}

// Forget drops what no longer matters at a moment.
func (h *History) Forget(now time.Time) {
	for target, tried := range h.tries {
		if now.Sub(tried.at) > 2*undone.Longest {
			delete(h.tries, target)
		}
	}
}

// undone reports whether a target that is missing went while something that asks for it was there.
func (t try) undone() bool { return !t.asked.After(t.at) }

// again is when a target may be installed once more.
func (t try) again() time.Time {
	if !t.undone() {
		return t.at
	}
	return t.at.Add(t.pause())
}

// pause is how long a target that was undone again and again is given up.
func (t try) pause() time.Duration { return undone.Pause(t.count) }
