package settings

import (
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/undone"
)

// Undone is the record of other writers that undo settings. It is stored with the settings, so that a new leader continues with it.
type Undone struct {
	// Count is the number of times in a row.
	Count int `json:"count,omitempty"`
	// Last is the time of the last one, or the time when the settings were put back after a pause.
	Last time.Time `json:"last,omitzero"`
	// Again is the end of the pause in which Interlock writes no settings. It is zero if there is no pause.
	Again time.Time `json:"again,omitzero"`
}

// GivenUp returns the time until which settings are given up. It is zero if they are not. A pause that is far longer than the longest
// one is ignored, because Interlock has not written it.
func (u Undone) GivenUp(now time.Time) time.Time {
	if now.Before(u.Again) && !u.foreign(now) {
		return u.Again
	}
	return time.Time{}
}

// foreign reports whether the record has a time that Interlock cannot have written. Clocks of two leaders may differ.
func (u Undone) foreign(now time.Time) bool {
	limit := now.Add(2 * undone.Longest)
	return u.Again.After(limit) || u.Last.After(limit) || u.Count < 0
}

// Next returns the record to store with the next write, outside a pause. undoneNow is whether another writer has undone the settings. If
// that makes Interlock give them up, the result has a new pause, and the write has to leave the settings as they are.
func (u Undone) Next(now time.Time, undoneNow bool) Undone {
	now = now.UTC().Truncate(time.Second) // the event shows the stored time
	lastEvent := u.Last
	if u.Again.After(lastEvent) {
		lastEvent = u.Again
	}
	if now.Sub(lastEvent) > undone.Within || u.foreign(now) {
		u = Undone{}
	}
	switch {
	case !u.Again.IsZero(): // the change that began the pause is put back now
		return Undone{Count: u.Count, Last: now}
	case !undoneNow:
		return u
	}
	u.Count, u.Last = u.Count+1, now
	if pause := undone.Pause(u.Count); pause > 0 {
		u.Again = now.Add(pause)
	}
	return u
}
