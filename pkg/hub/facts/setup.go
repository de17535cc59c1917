package facts

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/factsinformer"
)

const (
	// A failed write is tried again after retryFirst, then ever later, but
	// never later than retryLast.
	retryFirst = 5 * time.Millisecond
	retryLast  = 30 * time.Second
	// concurrency bounds what a new question to the whole fleet does to the
	// hub: so many writes at a time, each followed by one of an agent.
	concurrency = 8
	// noticeLast is how late it may be noticed that the hub serves the CRD.
	noticeLast = 15 * time.Second
)

type (
	queue     = workqueue.TypedRateLimitingInterface[reconcile.Request]
	installed = *addonv1alpha1.ManagedClusterAddOn
)

// NewInformer returns the informer of all objects; it wakes the controller.
func NewInformer(hub client.WithWatch, waker *Waker) *factsinformer.Informer {
	return factsinformer.New(hub, factsinformer.Options{
		RetryLast: noticeLast, Lean: lean, Changed: waker.changed, Turned: waker.turned,
	})
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, waker *Waker) error {
	waker.reconciler = r
	c, err := controller.New("facts", mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create facts controller: %w", err)
	}
	for _, s := range []source.Source{
		source.Func(waker.start),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for facts controller: %w", err)
		}
	}
	return nil
}

// addOns: what is requested of a cluster depends on which add-ons are there. What
// its agent reported counts while the agent lives, which its own add-on shows.
func (r *Reconciler) addOns() handler.TypedFuncs[installed, reconcile.Request] {
	return handler.TypedFuncs[installed, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[installed], q queue) { r.cameOrWent(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[installed], q queue) {
			if r.wroteFacts(e.ObjectNew) && ended("", e.ObjectOld) != ended("", e.ObjectNew) {
				q.Add(requestFor(e.ObjectNew.Namespace))
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[installed], q queue) {
			r.cameOrWent(e.Object, q)
			// What it asked is no longer known where its registration went first.
			if r.Informer.Get(keyOf(e.Object.Namespace)) != nil {
				q.Add(requestFor(e.Object.Namespace))
			}
		},
	}
}

// cameOrWent has the cluster of an add-on that asks anything looked at. Before
// the first catalog nobody knows; with it, all clusters are looked at.
func (r *Reconciler) cameOrWent(addOn installed, q queue) {
	if r.wroteFacts(addOn) {
		q.Add(requestFor(addOn.Namespace))
	}
	if catalog := r.Declarations.Current(); catalog != nil && !catalog.Requests(addOn.Name).Empty() {
		q.Add(requestFor(addOn.Namespace))
	}
}

// wroteFacts reports whether the add-on is the agent that wrote the facts of its cluster.
func (r *Reconciler) wroteFacts(addOn installed) bool {
	object := r.Informer.Get(keyOf(addOn.Namespace))
	return object != nil && object.Status.AgentAddOn == addOn.Name
}

func requestFor(cluster string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: cluster}}
}

// Waker has clusters looked at.
type Waker struct {
	reconciler *Reconciler
	running    chan struct{}
	queue      queue // once running
}

// NewWaker returns a waker that waits for its controller.
func NewWaker() *Waker {
	return &Waker{running: make(chan struct{})}
}

// Wake has the clusters of the add-ons of these keys looked at, as what these
// declare has changed. It fails only when the context ends before the
// controller runs.
func (w *Waker) Wake(ctx context.Context, keys []types.NamespacedName) error {
	select {
	case <-w.running:
	case <-ctx.Done():
		return fmt.Errorf("wake the clusters of %d add-ons: %w", len(keys), ctx.Err())
	}
	for _, key := range keys {
		w.queue.Add(requestFor(key.Namespace))
	}
	return nil
}

// start begins to take wake-ups, and looks at what was there before.
func (w *Waker) start(_ context.Context, q queue) error {
	w.queue = q
	close(w.running)
	w.lookAtAll()
	return nil
}

// lookAtAll has every cluster looked at that was asked anything before.
func (w *Waker) lookAtAll() {
	for _, object := range w.reconciler.Informer.List() {
		w.changed(nil, object)
	}
}

// changed has a cluster looked at whose object has changed. It does not wait:
// what happens before the controller runs is found when it starts.
func (w *Waker) changed(before, after *facts) {
	select {
	case <-w.running:
	default:
		return
	}
	if before != nil && after != nil && before.UID == after.UID &&
		apiequality.Semantic.DeepEqual(before.Spec, after.Spec) && apiequality.Semantic.DeepEqual(before.Status, after.Status) {
		return
	}
	object := after
	if object == nil {
		object = before
	}
	if object.Name == object.Namespace { // any other is not ours
		w.queue.Add(requestFor(object.Namespace))
	}
}

// turned has every cluster looked at of which anything is asked, as everybody
// can be asked now, or nobody any more.
func (w *Waker) turned(state factsinformer.State) {
	select {
	case <-w.running:
	default:
		return
	}
	if state == factsinformer.Served {
		w.reconciler.served()
		w.lookAtAll()
	}
	catalog := w.reconciler.Declarations.Current()
	if catalog == nil {
		return
	}
	ctx := context.Background() // answered from memory
	for _, addOn := range catalog.AddOns() {
		if catalog.Requests(addOn).Empty() {
			continue
		}
		keys, err := w.reconciler.Fleet.Installed(ctx, addOn)
		if err != nil {
			// Only before the cache has synced; the first catalog comes later.
			log.Log.Error(err, "Could not look at the clusters of an add-on", "addOn", addOn)
		}
		for _, key := range keys {
			w.queue.Add(requestFor(key.Namespace))
		}
	}
}
