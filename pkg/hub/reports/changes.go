package reports

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// delay is the time in which the changes on a cluster are collected.
const delay = time.Second

type queue = trigger.Queue

// Changes enqueues managed clusters in this controller. It is safe for concurrent use.
//
// Unlike a trigger, it keeps clusters that are added before the controller starts. The controller
// itself begins only with the clusters that have a report.
type Changes struct {
	mutex sync.Mutex
	queue queue
	early map[string]bool
}

// Add enqueues a cluster after the delay, once for all changes until then. So conditions are
// written first, and the report on a cluster is written at most once a second.
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

// enqueue adds a cluster after the delay. A cluster that already waits keeps its time.
func enqueue(q queue, cluster string) {
	q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Name: cluster}}, delay)
}
