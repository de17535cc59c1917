// Package objectwatch runs controllers of a single key. Watches of the metadata of
// single objects trigger them. RBAC can grant access to such an object by its name.
package objectwatch

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/interlock/pkg/kube/controllers"
)

// Watches enqueue the only key of a controller.
type Watches struct {
	objects metadata.Interface
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
	key     reconcile.Request
}

// SetupWithManager registers a controller with a single key, which runs only in the
// leader. When the controller starts, it enqueues the key, and calls start to add its
// watches. If watches were added before, the manager would wait for them, even while the
// hub does not respond.
func SetupWithManager(mgr ctrl.Manager, controllerName, key string, reconciler reconcile.Reconciler,
	start func(context.Context, *Watches) error,
) error {
	objects, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create metadata client: %w", err)
	}
	request := reconcile.Request{NamespacedName: types.NamespacedName{Name: key}}
	started := source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(request)
		return start(ctx, &Watches{objects: objects, queue: queue, key: request})
	})
	return controllers.Setup(mgr, controllerName, reconciler, 1, controllers.RetryOnHub, started)
}

// Watch enqueues the controller's key, after the delay, when the object is created,
// changed or deleted, until the context ends. An object without a namespace is
// cluster-scoped.
func (w *Watches) Watch(ctx context.Context, resource schema.GroupVersionResource, object types.NamespacedName, delay time.Duration) error {
	enqueue := func(any) { w.queue.AddAfter(w.key, delay) }
	informer := metadatainformer.NewFilteredMetadataInformer(w.objects, resource, object.Namespace, 0, nil,
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector("metadata.name", object.Name).String()
		}).Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) }, // without a resync, updates are changes
		DeleteFunc: enqueue,
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", resource.Resource, err)
	}
	go informer.RunWithContext(ctx)
	return nil
}
