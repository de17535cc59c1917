package factsinformer

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/informerstop"
)

// A request that fails is retried after retryFirst, then with a growing delay: up to
// retryUnreachable on a hub that does not respond, up to Options.RetryLast on one that
// does not serve the API, or forbids to read it.
const (
	retryFirst       = time.Second
	retryUnreachable = 15 * time.Second
	jitter           = 0.2
)

// The API counts as absent when the hub refused it this often in a row, for that long:
// a hub that starts refuses it for moments, which must not degrade the whole fleet.
const (
	confirmations = 3
	confirmTime   = 10 * time.Second
	// retryUnconfirmed is the longest delay between two requests meanwhile.
	retryUnconfirmed = 3 * time.Second
)

// refusals are the responses in a row that the API is not served, or forbidden.
type refusals struct {
	count int
	since time.Time
}

// add counts one more, and reports whether they are confirmed.
func (r *refusals) add(after time.Duration) bool {
	if r.count == 0 {
		r.since = time.Now()
	}
	r.count++
	return r.count >= confirmations && time.Since(r.since) >= after
}

// Start implements manager.Runnable.
func (i *Informer) Start(ctx context.Context) error {
	for i.awaitServed(ctx) {
		if err := i.cacheUntilAbsent(ctx); err != nil {
			return err
		}
	}
	return nil
}

// awaitServed returns true as soon as the API is served, and false when the context
// ends first.
func (i *Informer) awaitServed(ctx context.Context) bool {
	delay, seen := retryFirst, refusals{}
	for {
		list := &dependencyv1alpha1.ManagedClusterFactsList{}
		err := i.client.List(ctx, list, i.selected(metav1.ListOptions{Limit: 1}))
		limit := retryUnreachable
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil:
			return true
		case refused(err):
			limit = retryUnconfirmed
			if seen.add(i.confirm) {
				limit = i.options.RetryLast
				i.setState(ctx, Absent, err)
			}
		default:
			seen = refusals{}
			log.FromContext(ctx).V(1).Info("Could not read ManagedClusterFacts from the hub; retrying", "cause", err.Error())
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait.Jitter(min(delay, limit), jitter)):
			delay = min(2*delay, limit)
		}
	}
}

// cacheUntilAbsent keeps the cache until the API is no longer served, or the context
// ends.
func (i *Informer) cacheUntilAbsent(parent context.Context) error {
	ctx, absent := context.WithCancelCause(parent)
	defer absent(nil)
	informer, synced, err := i.newInformer(absent)
	if err != nil {
		return fmt.Errorf("watch ManagedClusterFacts: %w", err)
	}
	i.setCached(informer.GetIndexer())
	var running wait.Group
	running.Start(func() { informerstop.Run(ctx, informer.RunWithContext) })
	if cache.WaitForCacheSync(ctx.Done(), synced) {
		i.setState(ctx, Served, nil)
	}
	running.Wait()
	i.setCached(nil)
	if parent.Err() == nil {
		i.setState(ctx, Absent, context.Cause(ctx))
	}
	return nil
}

// newInformer returns an informer, and whether its first list was handled. It calls
// absent when the hub no longer serves the API, with the cause.
func (i *Informer) newInformer(absent func(cause error)) (cache.SharedIndexInformer, cache.InformerSynced, error) {
	var seen refusals // used by the reflector alone
	informer := cache.NewSharedIndexInformer(i.source(func() { seen = refusals{} }), &Facts{}, 0, nil)
	err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		switch {
		case !refused(err):
			seen = refusals{}
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
		case seen.add(i.confirm):
			absent(err)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if err := informer.SetTransform(i.lean); err != nil {
		return nil, nil, err
	}
	handling, err := informer.AddEventHandler(i.handler())
	if err != nil {
		return nil, nil, err
	}
	return informer, handling.HasSynced, nil
}

// refused reports whether the API, or the right to read it, is missing.
func refused(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err)
}

// source lists and watches. It calls granted when a watch has begun.
func (i *Informer) source(granted func()) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list := &dependencyv1alpha1.ManagedClusterFactsList{}
			err := i.client.List(ctx, list, i.selected(options))
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := i.client.Watch(ctx, &dependencyv1alpha1.ManagedClusterFactsList{}, i.selected(options))
			if err == nil {
				granted()
			}
			return events, err
		},
	}, i.client)
}

// selected limits a list or watch to the objects to cache.
func (i *Informer) selected(options metav1.ListOptions) *client.ListOptions {
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
		AddFunc:    func(object any) { i.changed(nil, object) },
		UpdateFunc: i.changed,
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
