package main

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// times are the changes of add-ons in a step, with the time since one moment.
type times struct {
	order   []types.NamespacedName
	changes map[types.NamespacedName][]timed
}

type timed struct {
	change
	elapsed time.Duration
}

// timesOf returns the changes of the step's add-ons.
func timesOf(changes []change, expected []expectation, origin time.Time) times {
	stepAddOns := map[types.NamespacedName]bool{}
	for _, e := range expected {
		stepAddOns[e.key()] = true
	}
	t := times{changes: map[types.NamespacedName][]timed{}}
	for _, c := range changes {
		if !stepAddOns[c.addOn] {
			continue
		}
		if t.changes[c.addOn] == nil {
			t.order = append(t.order, c.addOn)
		}
		t.changes[c.addOn] = append(t.changes[c.addOn], timed{change: c, elapsed: c.time.Sub(origin)})
	}
	return t
}

// last returns the time of the last change.
func (t times) last() time.Duration {
	var last time.Duration
	for _, changes := range t.changes {
		last = max(last, changes[len(changes)-1].elapsed)
	}
	return last
}

// path describes the changes of one add-on in their order.
func (t times) path(addOn types.NamespacedName) string {
	var words []string
	for _, c := range t.changes[addOn] {
		word := c.status
		if c.condition != "" {
			word = c.condition + "=" + c.status
		}
		if c.sameStatus {
			word += "/" + c.reason
		}
		words = append(words, word+" "+brief(c.elapsed))
	}
	return strings.Join(words, " → ")
}

// brief formats a duration for people to read.
func brief(d time.Duration) string {
	switch {
	case d == 0:
		return "0 ms"
	case d < 9950*time.Microsecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	default:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
}
