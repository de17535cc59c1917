package assess

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	// queueFill is the number of add-ons up to which the backlog fills the queue.
	queueFill = 1024
	// feedingPause is the time between two checks of the queue.
	feedingPause = 5 * time.Millisecond
	// restAfter is the time without new add-ons after which onFed is called.
	restAfter = time.Second
)

// Backlog has the add-ons that exist when addon-manager starts. It adds them to the
// queue in small portions. The maps of a queue never shrink, so the whole fleet at
// once would let them take memory forever.
type Backlog struct {
	mutex    sync.Mutex
	keys     []types.NamespacedName
	arrivals chan struct{}
	// onFed is called when all add-ons are in the queue and no more arrive.
	onFed func()
}

// NewBacklog returns an empty backlog. It calls onFed when all add-ons are in the queue and no more arrive.
func NewBacklog(onFed func()) *Backlog {
	return &Backlog{arrivals: make(chan struct{}, 1), onFed: onFed}
}

// Add adds an add-on that exists at the start.
func (b *Backlog) Add(key types.NamespacedName) {
	b.mutex.Lock()
	b.keys = append(b.keys, key)
	b.mutex.Unlock()
	select {
	case b.arrivals <- struct{}{}:
	default:
	}
}

// take removes up to count add-ons from the backlog and returns them. It also reports whether
// the backlog still has add-ons.
func (b *Backlog) take(count int) ([]types.NamespacedName, bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	keys := b.keys[:max(0, min(count, len(b.keys)))]
	if b.keys = b.keys[len(keys):]; len(b.keys) == 0 {
		b.keys = nil
	}
	return keys, len(b.keys) > 0
}

// Source feeds the queue of the controller.
func (b *Backlog) Source() source.Source {
	return source.Func(func(ctx context.Context, q queue) error {
		go b.feed(ctx, q)
		return nil
	})
}

// feed fills the queue from the backlog until the context ends.
func (b *Backlog) feed(ctx context.Context, q queue) {
	var rest <-chan time.Time // nil blocks forever, until the first add-on
	for {
		select {
		case <-ctx.Done():
			return
		case <-rest:
			rest = nil
			b.onFed()
		case <-b.arrivals:
			b.drain(ctx, q)
			rest = time.After(restAfter)
		}
	}
}

// drain moves all add-ons to the queue, as fast as the queue is processed.
func (b *Backlog) drain(ctx context.Context, q queue) {
	pause := time.NewTicker(feedingPause)
	defer pause.Stop()
	for {
		keys, hasMore := b.take(queueFill - q.Len())
		for _, key := range keys {
			enqueue(q, key)
		}
		if !hasMore {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}
