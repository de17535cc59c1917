package installer

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/interlock/pkg/compat/guard"
)

// A failed reconcile is repeated after retryFirst. The delay doubles up to retryLast.
const (
	retryFirst = 100 * time.Millisecond
	retryLast  = 30 * time.Second
)

// repairDelay bounds how often the guard is restored where another writer keeps
// removing it.
const repairDelay = time.Second

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// onlyKey is the only key of the queue: the guard is installed as a whole.
var onlyKey = reconcile.Request{NamespacedName: types.NamespacedName{Name: guard.Name}}

// SetupWithManager registers the controller, which runs in the leader only.
func (i *Installer) SetupWithManager(mgr ctrl.Manager) error {
	c, err := controller.New("guard", mgr, controller.Options{
		Reconciler:  i,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create guard controller: %w", err)
	}
	objects, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create metadata client: %w", err)
	}
	i.watched, i.applied = map[string]string{}, map[string]applied{}
	start := source.Func(func(ctx context.Context, q queue) error {
		watches := &watches{ctx: ctx, objects: objects, queue: q, cancel: map[schema.GroupVersionKind]context.CancelFunc{}}
		i.watch, i.unwatch = watches.start, watches.stop
		q.Add(onlyKey)
		return nil
	})
	if err := c.Watch(start); err != nil {
		return fmt.Errorf("start guard controller: %w", err)
	}
	return nil
}
