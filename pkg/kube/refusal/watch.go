// Package refusal runs an informer until the API server refuses its requests. A plain
// informer retries forever, and does not report that it can never read the resource.
package refusal

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"open-cluster-management.io/interlock/pkg/kube/informerstop"
)

// A refusal counts after this number of consecutive refusals over this time. An API server
// that starts refuses requests for moments, which must not degrade a fleet.
const (
	confirmations = 3
	// ConfirmTime is the usual value of Watch.Confirm.
	ConfirmTime = 10 * time.Second
)

// Watch is an informer with callbacks. T is the pointer type of its objects. No callback
// may block.
type Watch[T metav1.Object] struct {
	// Informer is new: it has neither handlers nor a transform function.
	Informer cache.SharedIndexInformer
	// Lean removes unneeded fields from an object.
	Lean func(T) T
	// Changed is called with an object before and after a change. The old object is nil for
	// an addition, the new one for a deletion.
	Changed func(before, after T)
	// Synced is called after Changed has been called for all objects of the first list.
	Synced func()
	// Confirm is the minimum duration of a refusal that counts.
	Confirm time.Duration
}

// Run runs the informer until the context ends, or until the API server refuses its
// requests. A refusal means that it does not serve the resource, or forbids to read it. Run
// returns the refusal as its first result. Only a new informer can detect that the refusal has ended.
func (w Watch[T]) Run(parent context.Context) (refusal, err error) {
	ctx, end := context.WithCancelCause(parent)
	defer end(nil)
	handling, err := w.prepare(end)
	if err != nil {
		return nil, fmt.Errorf("prepare informer: %w", err)
	}
	var syncing sync.WaitGroup
	syncing.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), handling.HasSynced) {
			w.Synced()
		}
	})
	informerstop.Run(ctx, w.Informer.RunWithContext)
	end(nil)
	syncing.Wait()
	if parent.Err() != nil {
		return nil, nil
	}
	return context.Cause(ctx), nil
}

// prepare sets up the informer so that it calls end with a refusal that counts.
func (w Watch[T]) prepare(end func(error)) (cache.ResourceEventHandlerRegistration, error) {
	var seen refusals // the reflector alone uses it
	err := w.Informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		refused := apierrors.IsNotFound(err) || apierrors.IsForbidden(err)
		if !refused {
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
		}
		if seen.add(refused, reflector.LastSyncResourceVersion(), w.Confirm) {
			end(err)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := w.Informer.SetTransform(w.lean); err != nil {
		return nil, err
	}
	return w.Informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { w.changed(nil, object) },
		UpdateFunc: w.changed,
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			w.changed(object, nil)
		},
	})
}

func (w Watch[T]) lean(object any) (any, error) {
	if full, ok := object.(T); ok {
		return w.Lean(full), nil
	}
	return object, nil
}

// changed calls Changed, unless an unchanged object was listed again.
func (w Watch[T]) changed(oldObject, newObject any) {
	previous, existed := oldObject.(T)
	current, exists := newObject.(T)
	if existed && exists && previous.GetResourceVersion() == current.GetResourceVersion() {
		return
	}
	w.Changed(previous, current)
}

// refusals counts consecutive refusals.
type refusals struct {
	count int
	since time.Time
	// read is the last resourceVersion that was read. If it changes, the API server has
	// allowed a request in between.
	read string
}

// add counts a failed request, and reports whether the refusals count now.
func (r *refusals) add(refused bool, read string, confirm time.Duration) bool {
	if !refused {
		r.count = 0
		return false
	}
	if r.count == 0 || r.read != read {
		*r = refusals{since: time.Now(), read: read}
	}
	r.count++
	return r.count >= confirmations && time.Since(r.since) >= confirm
}
