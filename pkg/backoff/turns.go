package backoff

import (
	"context"
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
	// come is called with each object that has waited, once its turn has come.
	come func(types.NamespacedName)

	mutex sync.Mutex
	// began has when the turn of an object began.
	began map[types.NamespacedName]time.Time
	// waiting has the objects of queue that still wait.
	waiting map[types.NamespacedName]bool
	queue   []types.NamespacedName
	queued  chan struct{}
}

// NewTurns returns turns at a rate. After a pause, so many have their turn at once. come is called with each object that has waited.
func NewTurns(clk clock.PassiveClock, perSecond rate.Limit, atOnce int, come func(types.NamespacedName)) *Turns {
	return &Turns{
		clock: clk, limiter: rate.NewLimiter(perSecond, atOnce), come: come, queued: make(chan struct{}, 1),
		began: map[types.NamespacedName]time.Time{}, waiting: map[types.NamespacedName]bool{},
	}
}

// Has reports whether it is the turn of an object that was last written at a time; otherwise the object waits for it. The turn ends with
// that write. If each of several writers gives the time of its own last write, all write once in the turn.
func (t *Turns) Has(object types.NamespacedName, last time.Time) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if began, ok := t.began[object]; ok && last.Before(began) {
		return true
	}
	if t.waiting[object] {
		return false
	}
	if now := t.clock.Now(); len(t.waiting) == 0 && t.limiter.AllowN(now, 1) {
		t.began[object] = now
		return true
	}
	t.waiting[object] = true
	t.queue = append(t.queue, object)
	select {
	case t.queued <- struct{}{}:
	default:
	}
	return false
}

// Forget drops the turn of an object.
func (t *Turns) Forget(object types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.began, object)
	delete(t.waiting, object)
}

// Start gives turns to the objects that wait, until the context ends.
func (t *Turns) Start(ctx context.Context) error {
	for {
		object, waits := t.first()
		if !waits {
			select {
			case <-t.queued:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		if err := t.limiter.Wait(ctx); err != nil {
			return nil //nolint:nilerr // only the end of the context ends it
		}
		if t.begin(object) {
			t.come(object)
		}
	}
}

// first returns the object that has waited longest. Those that no longer wait leave the queue.
func (t *Turns) first() (object types.NamespacedName, ok bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for len(t.queue) > 0 && !t.waiting[t.queue[0]] {
		t.queue = t.queue[1:]
	}
	if len(t.queue) == 0 {
		return object, false
	}
	return t.queue[0], true
}

// begin begins the turn of an object, if it still waits.
func (t *Turns) begin(object types.NamespacedName) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.waiting[object] {
		return false
	}
	delete(t.waiting, object)
	t.began[object] = t.clock.Now()
	return true
}
