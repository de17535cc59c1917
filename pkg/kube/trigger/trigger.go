// Package trigger is how one controller enqueues keys of another.
package trigger

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Queue is the queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Trigger enqueues keys of one controller. It is safe for concurrent use.
//
// A key that arrives before the controller starts is dropped. That loses nothing,
// because each controller begins with every object there is.
type Trigger struct {
	queue atomic.Pointer[Queue]
}

// New returns the trigger of a controller, which is to watch Source.
func New() *Trigger { return &Trigger{} }

// Enqueue adds the keys to the controller's queue. It does not block.
func (t *Trigger) Enqueue(keys ...types.NamespacedName) {
	queue := t.queue.Load()
	if queue == nil {
		return
	}
	for _, key := range keys {
		(*queue).Add(reconcile.Request{NamespacedName: key})
	}
}

// EnqueueAfter is Enqueue once a time has passed.
func (t *Trigger) EnqueueAfter(delay time.Duration, keys ...types.NamespacedName) {
	queue := t.queue.Load()
	if queue == nil {
		return
	}
	for _, key := range keys {
		(*queue).AddAfter(reconcile.Request{NamespacedName: key}, delay)
	}
}

// Source connects the trigger to its controller, and enqueues the keys that the
// controller begins with.
func (t *Trigger) Source(first ...types.NamespacedName) source.Source {
	return source.Func(func(_ context.Context, queue Queue) error {
		t.queue.Store(&queue)
		t.Enqueue(first...)
		return nil
	})
}
