package graft

import (
	"cmp"
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// A failed try is made again after retryFirst, then ever later, but never
// later than retryLast.
const (
	retryFirst = 100 * time.Millisecond
	retryLast  = 30 * time.Second
)

// theOne is the only key.
var theOne = reconcile.Request{NamespacedName: types.NamespacedName{Name: CRDName}}

var (
	crdResource           = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	configurationResource = admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations")
	// watched are the objects whose changes matter, by name.
	watched = map[schema.GroupVersionResource]string{crdResource: CRDName, configurationResource: ConfigurationName}
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
	wake := source.Func(func(ctx context.Context, q queue) error {
		q.Add(theOne)
		if r.Settings.On {
			return wakeOnChange(ctx, objects, q)
		}
		return nil
	})
	if err := c.Watch(wake); err != nil {
		return fmt.Errorf("start CRD graft controller: %w", err)
	}
	return nil
}

// prepare sets what is the same for every reconcile.
func (r *Reconciler) prepare() {
	r.Settings.Interval = cmp.Or(r.Settings.Interval, defaultInterval)
	r.prober = prober{address: r.Settings.WebhookAddress}
	// Every change of a CRD makes the API server end all watches of it.
	r.overwrites = pace{first: time.Second, last: 10 * time.Minute, forget: 30 * time.Minute}
	r.attempts = pace{first: time.Minute, last: time.Hour, forget: 3 * time.Hour}
	// A graft that was there before this process gets all of the grace.
	r.history.confirmed = true
}

// wakeOnChange wakes the controller on every change. It starts with the controller:
// what a manager watches before makes it wait for a hub that is away.
func wakeOnChange(ctx context.Context, objects metadata.Interface, q queue) error {
	for resource, name := range watched {
		informer := informerOf(objects, resource, name)
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { q.Add(theOne) },
			UpdateFunc: func(_, _ any) { q.Add(theOne) }, // without a resync, updates are changes
			DeleteFunc: func(any) { q.Add(theOne) },
		})
		if err != nil {
			return fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
		go informer.RunWithContext(ctx)
	}
	return nil
}

// informerOf watches a single object: rights are given by name.
func informerOf(objects metadata.Interface, resource schema.GroupVersionResource, name string) cache.SharedIndexInformer {
	return metadatainformer.NewFilteredMetadataInformer(objects, resource, metav1.NamespaceAll, 0, nil,
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}).Informer()
}
