package reports

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/trigger"
)

// delay is how long the changes on a cluster are gathered.
const delay = time.Second

type queue = trigger.Queue

// Changes enqueues managed clusters in this controller. It is safe for concurrent use.
//
// Other than a trigger, it keeps what arrives before the controller starts: the controller
// begins with the clusters that have a report, and add-ons on others are evaluated meanwhile.
type Changes struct {
	mutex sync.Mutex
	queue queue
	early map[string]bool
}

// Add has the report on a cluster made a second later, once for all changes until then. So
// conditions are written first, and reports at most once a second.
func (c *Changes) Add(cluster string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.queue != nil:
		enqueue(c.queue, cluster)
	case c.early == nil:
		c.early = map[string]bool{cluster: true}
	default:
		c.early[cluster] = true
	}
}

// start begins to enqueue.
func (c *Changes) start(_ context.Context, q queue) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for cluster := range c.early {
		enqueue(q, cluster)
	}
	c.queue, c.early = q, nil
	return nil
}

// enqueue adds a cluster after the delay. One that waits already is added when it would
// have been.
func enqueue(q queue, cluster string) {
	q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Name: cluster}}, delay)
}
