package settings

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// atOnce is how many changes of the settings of an add-on are written at once: dependents that are installed together each wish
	// something.
	atOnce = 5
	// firstPause is before the next change. Each later one doubles, up to longestPause.
	firstPause   = time.Second
	longestPause = 10 * time.Minute
	// Noticed is the pause with which settings are unsteady: no user changes them that often.
	Noticed = time.Minute
)

// Pace spaces out how often the settings of an add-on change because of what its dependents wish. An expression that reads a setting
// may change what it reads, and then never comes to an end. Its zero value remembers nothing. It is not safe for concurrent use.
type Pace struct {
	changed map[types.NamespacedName]pace
}

// pace is when settings were changed last, and how many times without a calm.
type pace struct {
	at    time.Time
	count int
}

func (p pace) pause() time.Duration {
	if p.count < atOnce {
		return 0
	}
	pause := firstPause
	for range min(p.count, 20) - atOnce { // by then, it is the longest
		pause = min(2*pause, longestPause)
	}
	return pause
}

// Wait returns until when the next change has to wait, and the pause that it waits; zero: it is written now.
func (p *Pace) Wait(addOn types.NamespacedName, now time.Time) (until time.Time, pause time.Duration) {
	before := p.changed[addOn]
	pause = before.pause()
	if until = before.at.Add(pause); pause == 0 || !now.Before(until) {
		return time.Time{}, 0
	}
	return until, pause
}

// Changed records a change. After a calm of twice the pause, and of the longest one at least, it is a first one again.
func (p *Pace) Changed(addOn types.NamespacedName, now time.Time) {
	if p.changed == nil {
		p.changed = map[types.NamespacedName]pace{}
	}
	before := p.changed[addOn]
	if now.Sub(before.at) > 2*max(before.pause(), longestPause) {
		before.count = 0
	}
	p.changed[addOn] = pace{now, before.count + 1}
}

// Forget drops what is remembered of an add-on that is gone.
func (p *Pace) Forget(addOn types.NamespacedName) { delete(p.changed, addOn) }
