package apidiscovery

import (
	"context"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/informerstop"
)

// workers is how many groups are discovered at the same time, so that one that hangs
// does not delay the others.
const workers = 8

// definitions are the resources that define what an API server serves. The objects
// of both are named <something>.<group>.
var definitions = []schema.GroupVersionResource{
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
}

// session is the time during which any group is watched. It watches the definitions
// and discovers the groups in its queue.
type session struct {
	watcher *Watcher
	cancel  context.CancelFunc
	queue   workqueue.TypedDelayingInterface[string]

	mutex  sync.Mutex
	synced bool
}

func newSession(watcher *Watcher, cancel context.CancelFunc) *session {
	return &session{watcher: watcher, cancel: cancel, queue: workqueue.NewTypedDelayingQueue[string]()}
}

// run watches and discovers until the context ends.
func (s *session) run(ctx context.Context) {
	defer s.queue.ShutDown()
	var running sync.WaitGroup
	synced := make([]cache.InformerSynced, 0, len(definitions))
	for _, resource := range definitions {
		informer, err := s.informer(resource)
		if err != nil {
			log.FromContext(ctx).Error(err, "Could not watch the definitions of APIs", "resource", resource.GroupResource())
			return
		}
		synced = append(synced, informer.HasSynced)
		running.Go(func() { informerstop.Run(ctx, informer.RunWithContext) })
	}
	for range workers {
		running.Go(func() { s.work(ctx) })
	}
	// First the watches: a change after a discovery must be an event.
	if cache.WaitForCacheSync(ctx.Done(), synced...) {
		s.mutex.Lock()
		s.synced = true
		s.mutex.Unlock()
		for _, name := range s.watcher.watched(s) {
			s.queue.Add(name)
		}
	}
	<-ctx.Done()
	s.queue.ShutDown()
	running.Wait()
}

// enqueue enqueues a group, once the definitions are watched.
func (s *session) enqueue(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.synced {
		s.queue.Add(name)
	}
}

// work discovers the groups of the queue, one after the other, until the queue ends.
func (s *session) work(ctx context.Context) {
	for {
		name, end := s.queue.Get()
		if end {
			return
		}
		s.discover(ctx, name)
		s.queue.Done(name)
	}
}

func (s *session) discover(ctx context.Context, name string) {
	result, err := discover(ctx, s.watcher.discovery, name)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("Could not discover a group on the managed cluster; the last result stays",
			"group", name, "cause", err.Error())
	}
	if again := s.watcher.discovered(s, name, result, err); again > 0 {
		s.queue.AddAfter(name, again)
	}
}

// informer watches the metadata of one resource. It keeps names and resourceVersions.
func (s *session) informer(resource schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
	informer := cache.NewSharedIndexInformer(s.source(resource), &metav1.PartialObjectMetadata{}, 0, nil)
	if err := informer.SetTransform(strip); err != nil {
		return nil, err
	}
	if err := informer.SetWatchErrorHandlerWithContext(s.onError(resource)); err != nil {
		return nil, err
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: s.onChange,
		UpdateFunc: func(before, after any) {
			if resourceVersion(before) != resourceVersion(after) {
				s.onChange(after)
			}
		},
		DeleteFunc: s.onChange,
	})
	return informer, err
}

// source lists and watches the definitions of one resource.
func (s *session) source(resource schema.GroupVersionResource) cache.ListerWatcher {
	client := s.watcher.metadata.Resource(resource)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := client.Watch(ctx, options)
			if err == nil {
				s.watcher.watchGranted(s, resource.GroupResource().String())
			}
			return events, err
		},
	}, s.watcher.metadata)
}

// onChange enqueues the group of a definition, if it is watched.
func (s *session) onChange(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	definition, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return
	}
	if _, name, ok := strings.Cut(definition.Name, "."); ok && s.watcher.definitionChanged(s, name) {
		s.enqueue(name)
	}
}

// onError counts a right that is missing, and logs all other errors. The reflector
// retries in both cases.
func (s *session) onError(resource schema.GroupVersionResource) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, reflector *cache.Reflector, err error) {
		if apierrors.IsForbidden(err) {
			s.watcher.watchRefused(s, resource.GroupResource().String())
			return
		}
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	}
}

func strip(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: full.Name, ResourceVersion: full.ResourceVersion}}, nil
}

func resourceVersion(object any) string {
	if definition, ok := object.(*metav1.PartialObjectMetadata); ok {
		return definition.ResourceVersion
	}
	return ""
}
