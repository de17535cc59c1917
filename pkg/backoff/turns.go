package backoff

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

// turnLasts is how long a turn can be used. Turns that stayed would all be used at once.
const turnLasts = 10 * time.Second

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
	// waiting has the objects that wait. queue also has those that no longer wait, each once: one that waits again has its place again.
	waiting sets.Set[types.NamespacedName]
	queue   []types.NamespacedName
	places  sets.Set[types.NamespacedName]
	queued  chan struct{}
}

// NewTurns returns turns at a rate. After a pause, so many have their turn at once. come is called with each object that has waited.
func NewTurns(clk clock.PassiveClock, perSecond rate.Limit, atOnce int, come func(types.NamespacedName)) *Turns {
	return &Turns{
		clock: clk, limiter: rate.NewLimiter(perSecond, atOnce), come: come, queued: make(chan struct{}, 1),
		began: map[types.NamespacedName]time.Time{}, waiting: sets.New[types.NamespacedName](), places: sets.New[types.NamespacedName](),
	}
}

// MayWrite reports whether an object that was last written at a time may be written now. What cannot wait may be written at once. Else it is
// as Has.
func (t *Turns) MayWrite(object types.NamespacedName, canWait bool, last time.Time) bool {
	if canWait {
		return t.Has(object, last)
	}
	t.leave(object)
	return true
}

// Has reports whether it is the turn of an object that was last written at a time; otherwise it waits for its turn. The turn ends with the
// write, and after 10 seconds.
func (t *Turns) Has(object types.NamespacedName, last time.Time) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.clock.Now()
	switch began, ok := t.began[object]; {
	case ok && last.Before(began) && now.Sub(began) < turnLasts:
		return true
	case t.waiting.Has(object):
		return false
	case len(t.waiting) == 0 && t.limiter.AllowN(now, 1):
		t.began[object] = now
		return true
	}
	t.enqueue(object)
	return false
}

// enqueue expects the mutex to be locked.
func (t *Turns) enqueue(object types.NamespacedName) {
	t.waiting.Insert(object)
	if !t.places.Has(object) {
		t.places.Insert(object)
		t.queue = append(t.queue, object)
	}
	select {
	case t.queued <- struct{}{}:
	default:
	}
}

// leave ends the wait of an object that no longer has anything that can wait. It takes no turn from others.
func (t *Turns) leave(object types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.waiting.Delete(object)
}

// Forget drops the turn of an object.
func (t *Turns) Forget(object types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.began, object)
	t.waiting.Delete(object)
}

// Start gives turns to the objects that wait, until the context ends.
func (t *Turns) Start(ctx context.Context) error {
	for {
		if !t.anyWaits() {
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
		if object, ok := t.begin(); ok {
			t.come(object)
		}
	}
}

func (t *Turns) anyWaits() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.waiting) > 0
}

// begin begins the turn of the object that has waited longest. Those that no longer wait leave the queue.
func (t *Turns) begin() (object types.NamespacedName, ok bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for len(t.queue) > 0 {
		object, t.queue = t.queue[0], t.queue[1:]
		t.places.Delete(object)
		if t.waiting.Has(object) {
			t.waiting.Delete(object)
			t.began[object] = t.clock.Now()
			return object, true
		}
	}
	return types.NamespacedName{}, false
}
