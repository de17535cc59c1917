package settings

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// atOnce is the number of changes of an add-on's settings that are written without a pause. Dependents that are installed together
	// each cause one.
	atOnce = 5
	// firstPause is the pause before the next change. Each later pause doubles, up to longestPause.
	firstPause   = time.Second
	longestPause = 10 * time.Minute
	// Noticed is the pause from which on settings count as unsteady. No user changes them that often.
	Noticed = time.Minute
)

// Pace limits the rate of changes of an add-on's settings. Without it, an expression that depends on its own result would cause changes
// without end. The zero value is ready for use. It is not safe for concurrent use.
type Pace struct {
	changed map[types.NamespacedName]pace
}

// pace has the time of the last change, and the number of changes in a row.
type pace struct {
	at    time.Time
	count int
}

func (p pace) pause() time.Duration {
	if p.count < atOnce {
		return 0
	}
	pause := firstPause
	for range min(p.count, 20) - atOnce { // the pause is longestPause by then
		pause = min(2*pause, longestPause)
	}
	return pause
}

// Wait returns the time until which the next change has to wait, and the length of that pause. Both are zero if it need not wait.
func (p *Pace) Wait(addOn types.NamespacedName, now time.Time) (until time.Time, pause time.Duration) {
	last := p.changed[addOn]
	pause = last.pause()
	until = last.at.Add(pause)
	if pause == 0 || !now.Before(until) {
		return time.Time{}, 0
	}
	return until, pause
}

// Changed records a change. The count starts again after a time without changes of twice the pause, and at least twice longestPause.
func (p *Pace) Changed(addOn types.NamespacedName, now time.Time) {
	if p.changed == nil {
		p.changed = map[types.NamespacedName]pace{}
	}
	last := p.changed[addOn]
	if now.Sub(last.at) > 2*max(last.pause(), longestPause) {
		last.count = 0
	}
	p.changed[addOn] = pace{now, last.count + 1}
}

// Forget drops the record of an add-on that was deleted.
func (p *Pace) Forget(addOn types.NamespacedName) { delete(p.changed, addOn) }
