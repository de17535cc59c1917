package installer

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/objectwatch"
)

// startWatching watches the object of a kind in the version in which it is
// written, and stops to watch it in another version.
func (i *Installer) startWatching(kind schema.GroupVersionKind) error {
	if i.watched[kind.Kind] == kind.Version {
		return nil
	}
	i.stopWatching(kind.Kind)
	name := guard.Name
	if kind == endpoint.Kind {
		name = i.Served.Configuration
	}
	if err := i.watch(kind, name); err != nil {
		return fmt.Errorf("watch %s %s: %w", kind.Kind, name, err)
	}
	i.watched[kind.Kind] = kind.Version
	return nil
}

// stopUnserved stops watching policies in a version that the API server no longer
// serves, because the watch would retry without end.
func (i *Installer) stopUnserved(served string) {
	for _, kind := range []string{guard.KindPolicy, guard.KindBinding} {
		if i.watched[kind] != served {
			i.stopWatching(kind)
		}
	}
}

func (i *Installer) stopWatching(kind string) {
	if version, there := i.watched[kind]; there {
		i.unwatch(schema.GroupVersionKind{Group: guard.Group, Version: version, Kind: kind})
		delete(i.watched, kind)
	}
}

// watches enqueue the installer. Each is of a single object.
type watches struct {
	ctx     context.Context // of the controller
	objects metadata.Interface
	queue   queue
	cancel  map[schema.GroupVersionKind]context.CancelFunc
}

// start enqueues the installer, after repairDelay, when the object is created,
// changed or deleted.
func (w *watches) start(kind schema.GroupVersionKind, name string) error {
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	informer := objectwatch.New(w.objects, resource, name)
	enqueue := func() { w.queue.AddAfter(onlyKey, repairDelay) }
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { enqueue() },
		UpdateFunc: func(_, _ any) { enqueue() }, // without a resync, updates are changes
		DeleteFunc: func(any) { enqueue() },
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(w.ctx) //nolint:gosec // stop calls it
	w.cancel[kind] = cancel
	go informer.RunWithContext(ctx)
	return nil
}

func (w *watches) stop(kind schema.GroupVersionKind) {
	w.cancel[kind]()
	delete(w.cancel, kind)
}
