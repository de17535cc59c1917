package graft

import (
	"cmp"
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/compat/objectwatch"
)

// A failed reconcile is repeated after retryFirst. The delay doubles up to retryLast.
const (
	retryFirst = 100 * time.Millisecond
	retryLast  = 30 * time.Second
)

// onlyKey is the only key of the queue.
var onlyKey = reconcile.Request{NamespacedName: types.NamespacedName{Name: CRDName}}

var (
	crdResource           = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	configurationResource = admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations")
	// watched are the names of the objects that trigger the controller.
	watched = map[schema.GroupVersionResource]string{crdResource: CRDName, configurationResource: endpoint.ConfigurationName}
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// SetupWithManager registers the controller, which runs in the leader only.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if r.schemas, err = loadSchemas(); err != nil {
		return err
	}
	r.prepare()
	c, err := controller.New("crd-graft", mgr, controller.Options{
		Reconciler:  r,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create CRD graft controller: %w", err)
	}
	objects, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create metadata client: %w", err)
	}
	start := source.Func(func(ctx context.Context, q queue) error {
		q.Add(onlyKey)
		if !r.Settings.On {
			return nil
		}
		// The leader before may have changed the CRD a moment ago.
		r.rereads.start(r.Clock.Now(), false)
		return r.enqueueOnChange(ctx, objects, q)
	})
	if err := c.Watch(start); err != nil {
		return fmt.Errorf("start CRD graft controller: %w", err)
	}
	return nil
}

// prepare sets what all reconciles share.
func (r *Reconciler) prepare() {
	r.Settings.Interval = cmp.Or(r.Settings.Interval, defaultInterval)
	r.prober = prober{address: r.Settings.WebhookAddress}
	// The API server ends all watches of a CRD's objects when the CRD changes.
	r.overwrites = backoff{first: time.Second, last: 10 * time.Minute, forget: 30 * time.Minute}
	r.attempts = backoff{first: time.Minute, last: time.Hour, forget: 3 * time.Hour}
	// A graft of an earlier process gets the whole grace period.
	r.history.confirmed = true
}

// enqueueOnChange watches the CRD and the webhook's configuration. It starts
// with the controller: a manager waits for what it watches before that, also
// while the hub is away.
func (r *Reconciler) enqueueOnChange(ctx context.Context, objects metadata.Interface, q queue) error {
	for resource, name := range watched {
		informer := objectwatch.New(objects, resource, name)
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { q.Add(onlyKey) },
			UpdateFunc: func(before, after any) { // without a resync, updates are changes
				if resource == crdResource && generation(before) != generation(after) {
					r.rereads.start(r.Clock.Now(), true)
				}
				q.Add(onlyKey)
			},
			DeleteFunc: func(any) { q.Add(onlyKey) },
		})
		if err != nil {
			return fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
		go informer.RunWithContext(ctx)
	}
	return nil
}

func generation(object any) int64 {
	if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
		return metadata.Generation
	}
	return 0
}
