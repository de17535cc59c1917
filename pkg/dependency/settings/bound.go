package settings

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/undone"
)

// Bound remembers which settings other writers undo. Its zero value remembers nothing. It is not safe for concurrent use.
type Bound struct {
	undone map[types.NamespacedName]undoing
}

// undoing is when settings were undone last, how many times, and until when they are given up.
type undoing struct {
	at, until time.Time
	count     int
}

// Undone is called where the settings of an add-on on a managed cluster are found undone. It returns until when they are given up, and
// whether that begins now; zero: they are put back.
func (b *Bound) Undone(addOn types.NamespacedName, now time.Time) (until time.Time, begins bool) {
	if b.undone == nil {
		b.undone = map[types.NamespacedName]undoing{}
	}
	before := b.undone[addOn]
	switch {
	case now.Before(before.until):
		return before.until, false
	case !before.until.IsZero(): // this is why they were given up, not once more
		before.until, before.at = time.Time{}, now
		b.undone[addOn] = before
		return time.Time{}, false
	case now.Sub(before.at) > undone.Within:
		before.count = 0
	}
	before.at, before.count = now, before.count+1
	if pause := undone.Pause(before.count); pause > 0 {
		before.until = now.Add(pause)
	}
	b.undone[addOn] = before
	return before.until, !before.until.IsZero()
}

// GivenUp returns until when settings are given up; zero: they are not.
func (b *Bound) GivenUp(addOn types.NamespacedName, now time.Time) time.Time {
	if until := b.undone[addOn].until; now.Before(until) {
		return until
	}
	return time.Time{}
}

// Forget drops what is remembered of an add-on that is gone.
func (b *Bound) Forget(addOn types.NamespacedName) { delete(b.undone, addOn) }
