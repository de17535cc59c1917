package guard

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/interlock/pkg/guard"
)

// A failed try is made again after retryFirst, then ever later, but never
// later than retryLast.
const (
	retryFirst = 100 * time.Millisecond
	retryLast  = 30 * time.Second
)

// paceOfRepair bounds how often the guard is put back where somebody insists
// on taking it away.
const paceOfRepair = time.Second

type (
	queue    = workqueue.TypedRateLimitingInterface[reconcile.Request]
	metadata = *metav1.PartialObjectMetadata
)

// SetupWithManager registers the controller, which runs in the leader only.
func (i *Installer) SetupWithManager(mgr ctrl.Manager) error {
	c, err := controller.New("guard", mgr, controller.Options{
		Reconciler:  i,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create guard controller: %w", err)
	}
	i.watched, i.applied = map[string]string{}, map[string]applied{}
	// Only kinds that are served can be watched, and only what is installed
	// needs to be: which those are is known in Reconcile.
	i.watch = func(_ context.Context, kind schema.GroupVersionKind) error {
		return c.Watch(source.Kind(mgr.GetCache(), metadataOf(kind), i.wakeOnChange()))
	}
	i.unwatch = func(ctx context.Context, kind schema.GroupVersionKind) error {
		return mgr.GetCache().RemoveInformer(ctx, metadataOf(kind))
	}
	first := source.Func(func(ctx context.Context, q queue) error {
		q.Add(theOne)
		return nil
	})
	if err := c.Watch(first); err != nil {
		return fmt.Errorf("start guard controller: %w", err)
	}
	return nil
}

// theOne is the only key: the guard is installed as a whole.
var theOne = reconcile.Request{NamespacedName: types.NamespacedName{Name: guard.Name}}

func metadataOf(kind schema.GroupVersionKind) metadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return object
}

// wakeOnChange wakes the controller when an object of the guard changed or
// went, or the place where it is served, not at once: who insists on its
// absence is answered at a bounded rate.
func (i *Installer) wakeOnChange() handler.TypedFuncs[metadata, reconcile.Request] {
	wake := func(object metadata, q queue) {
		if object.Name == guard.Name || object.Name == i.Served.Configuration {
			q.AddAfter(theOne, paceOfRepair)
		}
	}
	return handler.TypedFuncs[metadata, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[metadata], q queue) { wake(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[metadata], q queue) {
			if e.ObjectNew.ResourceVersion != e.ObjectOld.ResourceVersion {
				wake(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[metadata], q queue) { wake(e.Object, q) },
	}
}
