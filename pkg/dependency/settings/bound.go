package settings

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// What is undone twice within an hour is given up for an hour, then for two hours, at most for a day.
const (
	undoneWithin   = time.Hour
	undoneAtMost   = 2
	longestGivenUp = 24 * time.Hour
)

// Bound remembers which settings other writers undo. Its zero value remembers nothing. It is not safe for concurrent use.
type Bound struct {
	undone map[types.NamespacedName]undone
}

// undone is when settings were undone last, how many times, and until when they are given up.
type undone struct {
	at, until time.Time
	count     int
}

// Undone is called where the settings of an add-on on a managed cluster are found undone. It returns until when they are given up, and
// whether that begins now; zero: they are put back.
func (b *Bound) Undone(addOn types.NamespacedName, now time.Time) (until time.Time, begins bool) {
	if b.undone == nil {
		b.undone = map[types.NamespacedName]undone{}
	}
	before := b.undone[addOn]
	switch {
	case now.Before(before.until):
		return before.until, false
	case !before.until.IsZero(): // this is why they were given up, not once more
		before.until, before.at = time.Time{}, now
		b.undone[addOn] = before
		return time.Time{}, false
	case now.Sub(before.at) > undoneWithin:
		before.count = 0
	}
	before.at, before.count = now, before.count+1
	if before.count >= undoneAtMost {
		pause := undoneWithin
		for range min(before.count, 10) - undoneAtMost {
			pause = min(2*pause, longestGivenUp)
		}
		before.until = now.Add(pause)
	}
	b.undone[addOn] = before
	return before.until, !before.until.IsZero()
}

// Forget drops what is remembered of an add-on that is gone.
func (b *Bound) Forget(addOn types.NamespacedName) { delete(b.undone, addOn) }
