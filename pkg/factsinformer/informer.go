// Package factsinformer caches ManagedClusterFacts, on a hub that may not serve
// them: one whose CRD is not installed yet, or no longer. It waits for the CRD
// without being in anybody's way, and takes it up when it is there.
package factsinformer

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/informerstop"
)

// A hub that does not answer is asked again after retryFirst, then ever later,
// never later than retryLost. One that does not serve the API, or does not let
// us read it, may stay so: there Options say how much later it may be.
const (
	retryFirst = time.Second
	retryLost  = 15 * time.Second
	jitter     = 0.2
)

// The hub must say this often in a row, and for that long, that it does not
// serve the API, or that we may not read it: one that starts says so for
// moments, and to believe it would degrade the whole fleet.
const (
	doubts    = 3
	doubtTime = 10 * time.Second
	// retryDoubted is how late it may be asked again meanwhile.
	retryDoubted = 3 * time.Second
)

// refusals are the answers in a row that the API is not served.
type refusals struct {
	count int
	since time.Time
}

// add counts one more, and reports whether they are to be believed after that time.
func (r *refusals) add(after time.Duration) bool {
	if r.count == 0 {
		r.since = time.Now()
	}
	r.count++
	return r.count >= doubts && time.Since(r.since) >= after
}

// Facts are the objects that are cached.
type Facts = dependencyv1alpha1.ManagedClusterFacts

// Options say what to cache, and who wants to know.
type Options struct {
	// Only is the one object to cache; the zero value is all of them.
	Only types.NamespacedName
	// RetryLast is how long it may take at most until it is noticed that the
	// API is served.
	RetryLast time.Duration
	// Lean removes from an object what is not needed; nil removes nothing.
	Lean func(*Facts) *Facts
	// Changed is called with an object before and after a change, nil where
	// there is none. It must not block.
	Changed func(before, after *Facts)
	// Turned is called when it turns out that the API is served, or is not. It
	// must not block.
	Turned func(State)
}

// State is what is known of the API.
type State int

const (
	// Unknown says that the hub has not answered yet.
	Unknown State = iota
	// Absent says that the hub does not serve the API, or does not let us read it.
	Absent
	// Served says that the objects are cached.
	Served
)

// Informer caches ManagedClusterFacts while they are served.
type Informer struct {
	client  client.WithWatch
	options Options
	doubt   time.Duration

	mutex  sync.RWMutex
	state  State
	cached cache.Indexer // filled when Served, and filling just before
}

// New returns an informer that caches nothing until it is started.
func New(hub client.WithWatch, options Options) *Informer {
	return &Informer{client: hub, options: options, doubt: doubtTime}
}

// State returns what is known of the API.
func (i *Informer) State() State {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.state
}

// Get returns a cached object, nil where there is none, or not yet. It is shared and must
// not be changed.
func (i *Informer) Get(key types.NamespacedName) *Facts {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	if i.cached == nil {
		return nil
	}
	object, exists, err := i.cached.GetByKey(key.String())
	if err != nil || !exists {
		return nil
	}
	facts, _ := object.(*Facts)
	return facts
}

// List returns all cached objects. They are shared and must not be changed.
func (i *Informer) List() []*Facts {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	if i.cached == nil {
		return nil
	}
	var all []*Facts
	for _, object := range i.cached.List() {
		if facts, ok := object.(*Facts); ok {
			all = append(all, facts)
		}
	}
	return all
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: whoever takes
// over has all of it already.
func (i *Informer) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (i *Informer) Start(ctx context.Context) error {
	for i.await(ctx) {
		if err := i.follow(ctx); err != nil {
			return err
		}
	}
	return nil
}

// await returns true as soon as the API is served, and false when the context
// ends first.
func (i *Informer) await(ctx context.Context) bool {
	delay, refused := retryFirst, refusals{}
	for {
		list := &dependencyv1alpha1.ManagedClusterFactsList{}
		err := i.client.List(ctx, list, i.which(metav1.ListOptions{Limit: 1}))
		limit := retryLost
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil:
			return true
		case notServed(err):
			limit = retryDoubted
			if refused.add(i.doubt) {
				limit = i.options.RetryLast
				i.turn(ctx, Absent, err)
			}
		default:
			refused = refusals{}
			log.FromContext(ctx).V(1).Info("Could not ask the hub for ManagedClusterFacts", "cause", err.Error())
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait.Jitter(min(delay, limit), jitter)):
			delay = min(2*delay, limit)
		}
	}
}

// follow keeps the cache until the API is no longer served, or the context ends.
func (i *Informer) follow(parent context.Context) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	// Both belong to the reflector, until it has ended.
	var lost error
	var refused refusals
	informer := cache.NewSharedIndexInformer(i.source(func() { refused = refusals{} }), &Facts{}, 0, nil)
	err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		if !notServed(err) {
			refused = refusals{}
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
			return
		}
		if refused.add(i.doubt) {
			lost = err
			cancel()
		}
	})
	if err != nil {
		return fmt.Errorf("watch ManagedClusterFacts: %w", err)
	}
	if err := informer.SetTransform(i.lean); err != nil {
		return fmt.Errorf("watch ManagedClusterFacts: %w", err)
	}
	handling, err := informer.AddEventHandler(i.handler())
	if err != nil {
		return fmt.Errorf("watch ManagedClusterFacts: %w", err)
	}
	i.setCached(informer.GetIndexer())
	var running wait.Group
	running.Start(func() { informerstop.Run(ctx, informer.RunWithContext) })
	if cache.WaitForCacheSync(ctx.Done(), handling.HasSynced) {
		i.turn(ctx, Served, nil)
	}
	running.Wait()
	i.setCached(nil)
	if parent.Err() == nil { // else the reflector may still be about to end
		i.turn(ctx, Absent, lost)
	}
	return nil
}

func (i *Informer) setCached(cached cache.Indexer) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.cached = cached
}

// turn keeps what is now known of the API, and tells of it once.
func (i *Informer) turn(ctx context.Context, state State, cause error) {
	i.mutex.Lock()
	changed := i.state != state
	i.state = state
	i.mutex.Unlock()
	if !changed {
		return
	}
	if state == Absent {
		log.FromContext(ctx).Info("The hub does not offer ManagedClusterFacts: dependencies on APIs and on the versions "+
			"that run cannot be answered until it does", "crd", dependencyv1alpha1.CRDName, "cause", cause.Error())
	} else {
		log.FromContext(ctx).V(1).Info("The hub offers ManagedClusterFacts")
	}
	if i.options.Turned != nil {
		i.options.Turned(state)
	}
}

// notServed reports whether the API, or the right to read it, is missing.
func notServed(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err)
}

// source lists and watches; it calls granted when a watch has begun.
func (i *Informer) source(granted func()) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list := &dependencyv1alpha1.ManagedClusterFactsList{}
			err := i.client.List(ctx, list, i.which(options))
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := i.client.Watch(ctx, &dependencyv1alpha1.ManagedClusterFactsList{}, i.which(options))
			if err == nil {
				granted()
			}
			return events, err
		},
	}, i.client)
}

// which limits a list or watch to the objects to be cached.
func (i *Informer) which(options metav1.ListOptions) *client.ListOptions {
	limited := &client.ListOptions{Namespace: i.options.Only.Namespace, Limit: options.Limit, Continue: options.Continue, Raw: &options}
	if i.options.Only.Name != "" {
		limited.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, i.options.Only.Name)
	}
	return limited
}

func (i *Informer) lean(object any) (any, error) {
	facts, ok := object.(*Facts)
	if !ok || i.options.Lean == nil {
		return object, nil
	}
	return i.options.Lean(facts), nil
}

func (i *Informer) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { i.changed(nil, object) },
		UpdateFunc: func(before, after any) {
			i.changed(before, after)
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			i.changed(object, nil)
		},
	}
}

func (i *Informer) changed(before, after any) {
	was, _ := before.(*Facts)
	is, _ := after.(*Facts)
	if was != nil && is != nil && was.ResourceVersion == is.ResourceVersion {
		return
	}
	i.options.Changed(was, is)
}
