package served

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

// workers is how many groups are asked about at the same time: one that hangs
// holds up no other.
const workers = 8

// definitions are the kinds that say what an API server serves. The objects of
// both are named <something>.<group>.
var definitions = []schema.GroupVersionResource{
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
}

// session is the time during which any group is followed: it has watches on
// all definitions.
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

// run watches and asks until the context ends.
func (s *session) run(ctx context.Context) {
	defer s.queue.ShutDown()
	var running sync.WaitGroup
	synced := make([]cache.InformerSynced, 0, len(definitions))
	for _, resource := range definitions {
		informer, err := s.informer(resource)
		if err != nil {
			log.FromContext(ctx).Error(err, "Cannot watch what defines APIs", "resource", resource.GroupResource())
			return
		}
		synced = append(synced, informer.HasSynced)
		running.Go(func() { informerstop.Run(ctx, informer.RunWithContext) })
	}
	for range workers {
		running.Go(func() { s.work(ctx) })
	}
	// Only what changes after an answer wakes us: so the watches come first.
	if cache.WaitForCacheSync(ctx.Done(), synced...) {
		s.mutex.Lock()
		s.synced = true
		s.mutex.Unlock()
		for _, name := range s.watcher.followed(s) {
			s.queue.Add(name)
		}
	}
	<-ctx.Done()
	s.queue.ShutDown()
	running.Wait()
}

// ask has a group asked about, once that can be kept fresh.
func (s *session) ask(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.synced {
		s.queue.Add(name)
	}
}

// work asks about the groups of the queue, one after the other, until the end.
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
	answer, err := discover(ctx, s.watcher.discovery, name)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("The managed cluster does not tell what it serves; what was known stays",
			"group", name, "cause", err.Error())
	}
	if again := s.watcher.learned(s, name, answer, err); again > 0 {
		s.queue.AddAfter(name, again)
	}
}

// informer watches the metadata of one kind of definitions; it keeps their
// names and versions.
func (s *session) informer(resource schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
	informer := cache.NewSharedIndexInformer(s.source(resource), &metav1.PartialObjectMetadata{}, 0, nil)
	if err := informer.SetTransform(lean); err != nil {
		return nil, err
	}
	if err := informer.SetWatchErrorHandlerWithContext(s.onError(resource)); err != nil {
		return nil, err
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { s.onChange(object) },
		UpdateFunc: func(before, after any) {
			if version(before) != version(after) {
				s.onChange(after)
			}
		},
		DeleteFunc: func(object any) { s.onChange(object) },
	})
	return informer, err
}

// source lists and watches the definitions of a kind. A watch that is granted
// says that no right is missing, or no longer.
func (s *session) source(resource schema.GroupVersionResource) cache.ListerWatcher {
	client := s.watcher.metadata.Resource(resource)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := client.Watch(ctx, options)
			if err == nil {
				s.watcher.granted(s, resource.Resource)
			}
			return events, err
		},
	}, s.watcher.metadata)
}

// onChange has the group of a definition asked about, if it is followed.
func (s *session) onChange(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	definition, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return
	}
	if _, name, ok := strings.Cut(definition.Name, "."); ok && s.watcher.stirred(s, name) {
		s.ask(name)
	}
}

// onError keeps that a right is missing; all else is the reflector's to try
// again, and it says what there is to say.
func (s *session) onError(resource schema.GroupVersionResource) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, reflector *cache.Reflector, err error) {
		if !apierrors.IsForbidden(err) {
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
			return
		}
		s.watcher.refused(s, resource.Resource, "addon-agent may not list and watch "+resource.GroupResource().String())
	}
}

func lean(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: full.Name, ResourceVersion: full.ResourceVersion}}, nil
}

func version(object any) string {
	if definition, ok := object.(*metav1.PartialObjectMetadata); ok {
		return definition.ResourceVersion
	}
	return ""
}
