package facts

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/refusal"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// State is the state of the API ManagedClusterFacts on the hub.
type State int

const (
	// Unknown means that the hub has not responded yet.
	Unknown State = iota
	// Absent means that the hub does not serve the API, or forbids to read it.
	Absent
	// Served means that the objects are cached.
	Served
)

// Informer caches ManagedClusterFacts, and triggers the controller. While their CRD is not
// installed, it waits for the CRD without delaying other caches.
type Informer struct {
	client  client.WithWatch
	request *trigger.Trigger
	confirm time.Duration

	mutex  sync.RWMutex
	state  State
	cached cache.Store
}

// NewInformer returns an informer that caches nothing until it is started.
func NewInformer(hub client.WithWatch, request *trigger.Trigger) *Informer {
	return &Informer{
		client:  hub,
		request: request,
		confirm: refusal.ConfirmTime,
		cached:  cache.NewStore(cache.MetaNamespaceKeyFunc),
	}
}

// State returns the state of the API.
func (i *Informer) State() State {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.state
}

// Get returns a cached object, or nil. The object is shared and must not be changed.
func (i *Informer) Get(key types.NamespacedName) *facts {
	item, _, _ := i.store().GetByKey(key.String()) // never an error
	object, _ := item.(*facts)
	return object
}

// List returns all cached objects. They are shared and must not be changed.
func (i *Informer) List() []*facts {
	var objects []*facts
	for _, item := range i.store().List() {
		if object, ok := item.(*facts); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. A new leader has a full
// cache at once.
func (i *Informer) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (i *Informer) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := i.cacheUntilRefused(ctx); err != nil {
			return err
		}
	}
	return nil
}

// cacheUntilRefused fills the cache until the hub refuses to serve the objects, or the context
// ends.
func (i *Informer) cacheUntilRefused(ctx context.Context) error {
	informer := cache.NewSharedIndexInformer(i.source(), &facts{}, 0, cache.Indexers{})
	i.setStore(informer.GetStore())
	refused, err := refusal.Watch[*facts]{
		Informer: informer,
		Lean:     lean,
		Changed:  i.enqueueChanged,
		Confirm:  i.confirm,
		Synced:   func() { i.setState(ctx, Served, nil) },
	}.Run(ctx)
	if err != nil {
		return fmt.Errorf("watch ManagedClusterFacts: %w", err)
	}
	if refused != nil {
		i.setStore(cache.NewStore(cache.MetaNamespaceKeyFunc))
		i.setState(ctx, Absent, refused)
	}
	return nil
}

// enqueueChanged enqueues the cluster of an object after a change.
func (i *Informer) enqueueChanged(old, updated *facts) {
	if object := cmp.Or(updated, old); hasChanged(old, updated) && object.Name == object.Namespace { // objects of other names are not Interlock's
		i.request.Enqueue(clusterKey(object.Namespace))
	}
}

// hasChanged reports whether the UID, the spec or the status of an object has changed.
func hasChanged(old, updated *facts) bool {
	return old == nil || updated == nil || old.UID != updated.UID ||
		!apiequality.Semantic.DeepEqual(old.Spec, updated.Spec) || !apiequality.Semantic.DeepEqual(old.Status, updated.Status)
}

func (i *Informer) source() cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list := &dependencyv1alpha1.ManagedClusterFactsList{}
			err := i.client.List(ctx, list, listOptions(&options))
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return i.client.Watch(ctx, &dependencyv1alpha1.ManagedClusterFactsList{}, listOptions(&options))
		},
	}, i.client)
}

func listOptions(options *metav1.ListOptions) *client.ListOptions {
	return &client.ListOptions{Limit: options.Limit, Continue: options.Continue, Raw: options}
}

func (i *Informer) store() cache.Store {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.cached
}

func (i *Informer) setStore(cached cache.Store) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.cached = cached
}

// setState stores the state of the API. It logs a change and enqueues all clusters.
func (i *Informer) setState(ctx context.Context, state State, cause error) {
	i.mutex.Lock()
	changed := i.state != state
	i.state = state
	i.mutex.Unlock()
	if !changed {
		return
	}
	if state == Absent {
		log.FromContext(ctx).Info("The hub does not serve ManagedClusterFacts: APIs and running versions of managed clusters "+
			"stay unknown until it does", "crd", dependencyv1alpha1.CRDName, "cause", cause.Error())
	} else {
		log.FromContext(ctx).V(1).Info("The hub serves ManagedClusterFacts")
	}
	i.request.Enqueue(everyCluster)
}
