package backoff

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Turns space out writes that can wait, those of all objects together. They follow one another at a rate, in the order in which they were
// requested. It is safe for concurrent use. Call Forget for objects that no longer wait.
type Turns struct {
	clock   clock.PassiveClock
	limiter *rate.Limiter

	mutex sync.Mutex
	next  map[types.NamespacedName]time.Time
}

// NewTurns returns turns at a rate. So many are not spaced out, after a pause.
func NewTurns(clk clock.PassiveClock, perSecond float64, unspaced int) *Turns {
	return &Turns{clock: clk, limiter: rate.NewLimiter(rate.Limit(perSecond), unspaced), next: map[types.NamespacedName]time.Time{}}
}

// Wait returns how long to wait before the next write to an object that was last written at a time. An object has one turn, which ends
// with a write. Each of several writers to an object gives the time of its own last write, and so has the same turn as the others.
func (t *Turns) Wait(key types.NamespacedName, last time.Time) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.clock.Now()
	turn, ok := t.next[key]
	if !ok || !last.Before(turn) {
		turn = now.Add(t.limiter.ReserveN(now, 1).DelayFrom(now))
		t.next[key] = turn
	}
	return max(0, turn.Sub(now))
}

// Forget drops the turn of an object.
func (t *Turns) Forget(key types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.next, key)
}
