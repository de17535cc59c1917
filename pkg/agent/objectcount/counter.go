// Package objectcount counts the objects of kinds on the managed cluster. To watch a number, each object would have to be watched.
// So it polls at long intervals, with one request a kind, which returns the metadata of one object and the number of remaining
// objects. It caches no object and reads no content.
package objectcount

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/workqueue"
)

// workers is how many kinds are counted at the same time, so that an aggregated API server that hangs does not delay the other
// kinds.
const workers = 2

// Resource is the resource of the objects of a kind.
type Resource = schema.GroupVersionResource

// Counter counts the objects of the requested resources. It is safe for concurrent use.
type Counter struct {
	metadata metadata.Interface
	changed  func()
	queue    workqueue.TypedDelayingInterface[Resource]

	mutex sync.Mutex
	kinds map[Resource]*kind
}

// New returns a counter without resources. It calls changed, which must not block, when a count has changed.
func New(objects metadata.Interface, changed func()) *Counter {
	return &Counter{
		metadata: objects, changed: changed, queue: workqueue.NewTypedDelayingQueue[Resource](), kinds: map[Resource]*kind{},
	}
}

// CountOnly counts these resources from now on, and no others.
func (c *Counter) CountOnly(resources []Resource) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for counted := range c.kinds {
		if !slices.Contains(resources, counted) {
			delete(c.kinds, counted)
		}
	}
	for _, resource := range resources {
		if c.kinds[resource] == nil {
			c.kinds[resource] = &kind{}
			c.queue.Add(resource)
		}
	}
}

// Count returns the count of a resource. The second result is false while the resource has not been counted.
func (c *Counter) Count(resource Resource) (Count, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if kind := c.kinds[resource]; kind != nil {
		return kind.count, kind.counted
	}
	return Count{}, false
}

// Start implements manager.Runnable: it counts until the context ends.
func (c *Counter) Start(ctx context.Context) error {
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	running.Wait()
	return nil
}

// work counts the resources of the queue until the queue ends.
func (c *Counter) work(ctx context.Context) {
	for {
		resource, end := c.queue.Get()
		if end {
			return
		}
		if delay := c.count(ctx, resource); delay > 0 {
			c.queue.AddAfter(resource, delay)
		}
		c.queue.Done(resource)
	}
}

// count counts a resource, and returns the delay until the next count. It is zero if the resource is no longer requested.
func (c *Counter) count(ctx context.Context, resource Resource) time.Duration {
	c.mutex.Lock()
	kind := c.kinds[resource]
	c.mutex.Unlock()
	if kind == nil {
		return 0
	}
	result, responded := read(ctx, c.metadata, resource)
	if ctx.Err() != nil {
		return 0
	}
	c.mutex.Lock()
	changed, delay := kind.update(result, responded)
	c.mutex.Unlock()
	if changed {
		c.changed()
	}
	return delay
}
