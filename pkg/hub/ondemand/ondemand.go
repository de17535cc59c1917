// Package ondemand watches what only some declarations ask for, from when the
// first of them does. A hub on which nobody asks needs neither the API nor the
// right to read it.
package ondemand

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// patience is how long the hub may be silent before the log says so, each time.
const patience = 15 * time.Second

// Informer is what a watch needs of an informer.
type Informer interface {
	AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error)
}

// Watch is a watch that starts when it is needed for the first time.
type Watch struct {
	// What is watched, for the log.
	What string
	// Informer returns the informer, which runs until the context ends. It is
	// called once.
	Informer func(ctx context.Context) (Informer, error)
	// Changed is told of an object before and after every change, nil where
	// there is none. An error, of a context that ends, is not told again.
	Changed func(ctx context.Context, before, after any) error
	// Synced is called once all is known, after Ready became true.
	Synced func(ctx context.Context) error

	prepare sync.Once
	once    sync.Once
	needed  chan struct{}
	ready   atomic.Bool
}

// Ready reports whether all is known, and sees to it that it will be.
func (w *Watch) Ready() bool {
	if w.ready.Load() {
		return true
	}
	w.once.Do(func() { close(w.need()) })
	return false
}

func (w *Watch) need() chan struct{} {
	w.prepare.Do(func() { w.needed = make(chan struct{}) })
	return w.needed
}

// Start implements manager.Runnable.
func (w *Watch) Start(ctx context.Context) error {
	select {
	case <-w.need():
	case <-ctx.Done():
		return nil
	}
	watched, err := w.Informer(ctx)
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.What, err)
	}
	registration, err := watched.AddEventHandler(w.handler(ctx))
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.What, err)
	}
	if !w.await(ctx, registration.HasSynced) {
		return nil
	}
	w.ready.Store(true)
	if err := w.Synced(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (w *Watch) handler(ctx context.Context) cache.ResourceEventHandler {
	changed := func(before, after any) {
		if err := w.Changed(ctx, before, after); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Could not tell of a change", "watched", w.What)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { changed(nil, object) },
		UpdateFunc: changed,
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			changed(object, nil)
		},
	}
}

// await says at intervals what it waits for.
func (w *Watch) await(ctx context.Context, synced func() bool) bool {
	complaint := time.NewTicker(patience)
	defer complaint.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for !synced() {
		select {
		case <-ctx.Done():
			return false
		case <-complaint.C:
			log.FromContext(ctx).Info("Waiting for the hub to tell of "+w.What+", which some declared dependencies ask for; "+
				"until then these are held. Is the API there, and may addon-manager read it?", "watched", w.What)
		case <-look.C:
		}
	}
	return true
}
