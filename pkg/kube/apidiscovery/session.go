package apidiscovery

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/kube/refusal"
)

// workers is the number of groups that are discovered at the same time, so that a group that
// hangs does not delay the others.
const workers = 8

// definitions are the resources that define the APIs of an API server. The objects of
// both are named <something>.<group>.
var definitions = []schema.GroupVersionResource{
	{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
}

// definition is the metadata of an object that defines an API.
type definition = metav1.PartialObjectMetadata

// session watches the definitions and discovers the groups in its queue. A Watcher has a
// session while it watches any group.
type session struct {
	metadata  metadata.Interface
	discovery API
	changed   func()
	queue     workqueue.TypedDelayingInterface[string]
	confirm   time.Duration

	mutex  sync.Mutex
	groups map[string]*group
	synced map[schema.GroupVersionResource]bool
	// refused maps a resource of definitions that cannot be watched to the reason.
	refused map[schema.GroupVersionResource]string
}

func newSession(metadata metadata.Interface, discovery API, changed func()) *session {
	return &session{
		metadata:  metadata,
		discovery: discovery,
		changed:   changed,
		queue:     workqueue.NewTypedDelayingQueue[string](),
		confirm:   refusal.ConfirmTime,
		groups:    map[string]*group{},
		synced:    map[schema.GroupVersionResource]bool{},
		refused:   map[schema.GroupVersionResource]string{},
	}
}

// run watches and discovers until the context ends.
func (s *session) run(ctx context.Context) {
	var running sync.WaitGroup
	for _, resource := range definitions {
		running.Go(func() { s.watchDefinitions(ctx, resource) })
	}
	for range workers {
		running.Go(func() { s.work(ctx) })
	}
	<-ctx.Done()
	s.queue.ShutDown()
	running.Wait()
}

// watchDefinitions watches the metadata of a resource. It keeps names and resourceVersions.
func (s *session) watchDefinitions(ctx context.Context, resource schema.GroupVersionResource) {
	for ctx.Err() == nil {
		refused, err := refusal.Watch[*definition]{
			Informer: metadatainformer.NewFilteredMetadataInformer(
				s.metadata, resource, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer(),
			Lean:    lean,
			Changed: s.definitionChanged,
			Confirm: s.confirm,
			Synced:  func() { s.setDefinitions(resource, true, "") },
		}.Run(ctx)
		switch {
		case err != nil:
			log.FromContext(ctx).Error(err, "Could not watch the definitions of APIs", "resource", resource.GroupResource())
			return
		case apierrors.IsForbidden(refused):
			s.setDefinitions(resource, false, s.discovery.Client+" may not list and watch "+resource.GroupResource().String())
		case refused != nil:
			s.setDefinitions(resource, false, "the API server does not serve "+resource.GroupResource().String())
		}
	}
}

// setDefinitions stores whether a resource is watched, or the reason why it cannot be.
// Groups are discovered only while both resources are watched, so that each change after a
// discovery is an event.
func (s *session) setDefinitions(resource schema.GroupVersionResource, synced bool, refused string) {
	s.mutex.Lock()
	changed := s.refused[resource] != refused
	s.synced[resource], s.refused[resource] = synced, refused
	for name := range s.groups {
		s.enqueue(name)
	}
	s.mutex.Unlock()
	if changed {
		s.changed()
	}
}

// enqueue enqueues a group if all definitions are watched. The caller must hold the mutex.
func (s *session) enqueue(name string) {
	for _, resource := range definitions {
		if !s.synced[resource] {
			return
		}
	}
	s.queue.Add(name)
}

// watch replaces the watched groups.
func (s *session) watch(groups map[string]Fields) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	maps.DeleteFunc(s.groups, func(name string, _ *group) bool {
		_, kept := groups[name]
		return !kept
	})
	for name, fields := range groups {
		switch watched := s.groups[name]; {
		case watched == nil:
			s.groups[name] = &group{fields: fields}
			s.enqueue(name)
		case !maps.EqualFunc(watched.fields, fields, slices.Equal):
			watched.fields = fields
			s.enqueue(name)
		}
	}
}

// group returns the last result for a group.
func (s *session) group(name string) Group {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	watched := s.groups[name]
	if watched == nil {
		return Group{}
	}
	for _, resource := range definitions {
		if refused := s.refused[resource]; refused != "" {
			// Without the watch, the last result would become stale.
			return Group{Discovered: true, Forbidden: refused}
		}
	}
	return watched.result
}

// definitionChanged enqueues the group of a definition, if the group is watched. Rechecks
// follow, because the discovery documents may be stale.
func (s *session) definitionChanged(before, after *definition) {
	_, name, _ := strings.Cut(cmp.Or(after, before).Name, ".")
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if watched := s.groups[name]; watched != nil {
		watched.rechecks = 0
		s.enqueue(name)
	}
}

// work discovers the groups of the queue, one after the other, until the queue ends.
func (s *session) work(ctx context.Context) {
	for {
		name, shutdown := s.queue.Get()
		if shutdown {
			return
		}
		s.discover(ctx, name)
		s.queue.Done(name)
	}
}

func (s *session) discover(ctx context.Context, name string) {
	fields, schemas := s.lastResult(name)
	result, err := discover(ctx, s.discovery, name)
	if err == nil {
		err = result.lookUp(ctx, s.discovery, name, fields, schemas)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("Could not discover a group; the last result stays",
			"group", name, "cause", err.Error())
	}
	changed, delay := s.discovered(name, result, err)
	if changed {
		s.changed()
	}
	if delay > 0 {
		s.queue.AddAfter(name, delay)
	}
}

// lastResult returns the fields of a group to look up, and the last result for its schemas.
func (s *session) lastResult(name string) (Fields, Schemas) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if watched := s.groups[name]; watched != nil {
		return watched.fields, watched.result.Schemas
	}
	return nil, Schemas{}
}

// discovered stores the result of a discovery. See group.
func (s *session) discovered(name string, result Group, err error) (bool, time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if watched := s.groups[name]; watched != nil {
		return watched.discovered(result, err)
	}
	return false, 0
}

func lean(full *definition) *definition {
	return &definition{ObjectMeta: metav1.ObjectMeta{Name: full.Name, ResourceVersion: full.ResourceVersion}}
}
