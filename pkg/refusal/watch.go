// Package refusal runs an informer for as long as an API server lets it read. A plain
// informer retries without end, and does not report that it never can.
package refusal

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"open-cluster-management.io/interlock/pkg/informerstop"
)

// A refusal counts once the API server has repeated it this often in a row, for that
// long. An API server that starts refuses for moments, which must not degrade a fleet.
const (
	confirmations = 3
	// ConfirmTime is the usual time.
	ConfirmTime = 10 * time.Second
)

// Watch is an informer of objects of type T, a pointer, and what to do with them. None
// of its functions may block.
type Watch[T metav1.Object] struct {
	// Informer is new: it has neither handlers nor a transform function.
	Informer cache.SharedIndexInformer
	// Lean removes from an object what is not needed.
	Lean func(T) T
	// Changed takes an object before and after a change, nil where there is none.
	Changed func(before, after T)
	// Synced is called once Changed has taken all objects of the first list.
	Synced func()
	// Confirm is how long a refusal has to last.
	Confirm time.Duration
}

// Run runs the informer until the context ends, or until the API server refuses it: it
// does not serve the resource, or does not allow to read it. Then Run returns that
// refusal. After that, only a new informer finds out that the refusal has ended.
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

// prepare sets up the informer, which calls end with a refusal that counts.
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

// changed passes a change on. An object that is listed again has not changed.
func (w Watch[T]) changed(before, after any) {
	was, existed := before.(T)
	is, exists := after.(T)
	if existed && exists && was.GetResourceVersion() == is.GetResourceVersion() {
		return
	}
	w.Changed(was, is)
}

// refusals are those in a row.
type refusals struct {
	count int
	since time.Time
	// read is the resourceVersion that was read last. Another one says that the API
	// server has allowed a request in between.
	read string
}

// add counts the result of a request that failed, and reports whether refusals count
// by now.
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
