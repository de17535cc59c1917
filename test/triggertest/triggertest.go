// Package triggertest shows tests the keys that a trigger enqueues.
package triggertest

import (
	"slices"
	"testing"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Enqueued starts the source of the trigger. The function that it returns takes
// all keys from the queue, sorted.
func Enqueued(t *testing.T, tr *trigger.Trigger) func() []string {
	t.Helper()
	queue := NewQueue(t)
	if err := tr.Source().Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	return func() []string { return Drain(queue) }
}

// NewQueue returns a queue like a controller has.
func NewQueue(t *testing.T) trigger.Queue {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(queue.ShutDown)
	return queue
}

// Drain takes all keys from the queue, sorted.
func Drain(queue trigger.Queue) []string {
	keys := []string{}
	for queue.Len() > 0 {
		request, _ := queue.Get()
		keys = append(keys, request.String())
		queue.Done(request)
	}
	slices.Sort(keys)
	return keys
}
