// Package lazywatch watches kinds that only some declarations need. A watch starts with
// the first such declaration, so other hubs need neither the API nor the right to read
// it. A change of an object enqueues the add-ons whose verdicts can change.
package lazywatch

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// logEvery is the time between two log messages while the hub does not respond.
const logEvery = 15 * time.Second

// Options configure a watch.
type Options struct {
	// Resource names the watched objects in the log.
	Resource string
	// Purpose says in the log why they are watched. The default is that some declared dependencies need them.
	Purpose string
	// Object is an empty object of the watched kind.
	Object client.Object
	// Indexers are added to the cache.
	Indexers cache.Indexers
	// Meanwhile describes in the log the behavior until all objects are read.
	Meanwhile string
	// Changed is called for each object that is created, changed or deleted after Synced was
	// called. old is nil for a creation, and updated is nil for a deletion. The watch logs an
	// error and does not repeat the call.
	Changed func(ctx context.Context, old, updated client.Object) error
	// Synced is called after Ready or Late became true.
	Synced func(ctx context.Context) error
}

// Watch is a watch that begins when it is enabled.
type Watch struct {
	lazy       ctrlcache.Informers
	options    Options
	enableOnce sync.Once
	enabled    chan struct{}
	ready      atomic.Bool
	late       atomic.Bool
}

// New returns a watch for a manager to run. It stores the objects in the cache.
func New(lazy ctrlcache.Informers, options Options) *Watch {
	return &Watch{lazy: lazy, options: options, enabled: make(chan struct{})}
}

// Enable starts the watch. It is safe to call it again.
func (w *Watch) Enable() { w.enableOnce.Do(func() { close(w.enabled) }) }

// Ready reports whether all objects are read.
func (w *Watch) Ready() bool { return w.ready.Load() }

// Late reports whether the hub has not responded within 15 seconds since the watch was enabled.
func (w *Watch) Late() bool { return w.late.Load() && !w.Ready() }

// Start implements manager.Runnable.
func (w *Watch) Start(ctx context.Context) error {
	select {
	case <-w.enabled:
	case <-ctx.Done():
		return nil
	}
	watched, err := w.lazy.GetInformer(ctx, w.options.Object, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.options.Resource, err)
	}
	if err := watched.AddIndexers(w.options.Indexers); err != nil {
		return fmt.Errorf("index %s: %w", w.options.Resource, err)
	}
	registration, err := watched.AddEventHandler(w.handler(ctx))
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.options.Resource, err)
	}
	go w.logWaiting(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil
	}
	w.ready.Store(true)
	if err := w.options.Synced(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (w *Watch) handler(ctx context.Context) cache.ResourceEventHandler {
	changed := func(old, updated client.Object) {
		if !w.Ready() {
			return // Synced is about to be called
		}
		if err := w.options.Changed(ctx, old, updated); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Could not handle a change", "watched", w.options.Resource)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { changed(nil, object.(client.Object)) },
		UpdateFunc: func(old, updated any) {
			if !sameContent(old.(client.Object), updated.(client.Object)) {
				changed(old.(client.Object), updated.(client.Object))
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			changed(object.(client.Object), nil)
		},
	}
}

// sameContent reports whether two versions of a cached object are equal except for the resourceVersion.
func sameContent(old, updated client.Object) bool {
	oldCopy := old.DeepCopyObject().(client.Object)
	oldCopy.SetResourceVersion(updated.GetResourceVersion())
	return apiequality.Semantic.DeepEqual(oldCopy, updated)
}

// logWaiting logs that the watch waits for the hub, until all objects are read.
func (w *Watch) logWaiting(ctx context.Context) {
	_ = wait.PollUntilContextCancel(ctx, logEvery, false, func(context.Context) (bool, error) {
		if !w.Ready() {
			w.setLate(ctx)
			log.FromContext(ctx).Info("Waiting for the hub to serve "+w.options.Resource+", "+cmp.Or(w.options.Purpose, "which some declared dependencies need")+
				"; until then "+w.options.Meanwhile+". Does the API exist, and may addon-manager read it?", "watched", w.options.Resource)
		}
		return w.Ready(), nil
	})
}

// setLate lets the components that wait for the watch continue without its objects.
func (w *Watch) setLate(ctx context.Context) {
	if w.late.Swap(true) {
		return
	}
	if err := w.options.Synced(ctx); err != nil && ctx.Err() == nil {
		log.FromContext(ctx).Error(err, "Could not go on without what the hub does not serve", "watched", w.options.Resource)
	}
}
