package settings

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/undone"
)

// Bound limits the repair of settings that other writers undo. The zero value is ready for use. It is not safe for concurrent use.
type Bound struct {
	undone map[types.NamespacedName]undoing
}

// undoing has the time when settings were last undone, their number in a row, and the end of the period in which they are given up.
type undoing struct {
	at, until time.Time
	count     int
}

// Undone records that another writer has undone the settings of an add-on on a managed cluster. It returns the time until which they
// are given up, and whether that period begins now. The time is zero if Interlock puts the settings back.
func (b *Bound) Undone(addOn types.NamespacedName, now time.Time) (until time.Time, begins bool) {
	if b.undone == nil {
		b.undone = map[types.NamespacedName]undoing{}
	}
	last := b.undone[addOn]
	switch {
	case now.Before(last.until):
		return last.until, false
	case !last.until.IsZero(): // the same change as the one that began the period
		last.until, last.at = time.Time{}, now
		b.undone[addOn] = last
		return time.Time{}, false
	case now.Sub(last.at) > undone.Within:
		last.count = 0
	}
	last.at, last.count = now, last.count+1
	if pause := undone.Pause(last.count); pause > 0 {
		last.until = now.Add(pause)
	}
	b.undone[addOn] = last
	return last.until, !last.until.IsZero()
}

// GivenUp returns the time until which settings are given up. It is zero if they are not.
func (b *Bound) GivenUp(addOn types.NamespacedName, now time.Time) time.Time {
	if until := b.undone[addOn].until; now.Before(until) {
		return until
	}
	return time.Time{}
}

// Forget drops the record of an add-on that was deleted.
func (b *Bound) Forget(addOn types.NamespacedName) { delete(b.undone, addOn) }
