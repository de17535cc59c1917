// Package apidiscovery knows which kinds an API server serves, that of a managed cluster or of the hub, in
// the groups that dependencies refer to and no others. It watches the metadata of
// CustomResourceDefinitions and APIServices. When one of them changes, it reads the
// discovery documents of that group, and the OpenAPI documents of its versions where
// dependencies refer to fields.
package apidiscovery

import (
	"context"
	"sync"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// API is the API server whose groups are discovered.
type API struct {
	REST rest.Interface
	// Client is what reads it, for messages, such as addon-agent.
	Client string
}

// Watcher discovers the groups that it watches. It is safe for concurrent use.
type Watcher struct {
	metadata  metadata.Interface
	discovery API
	changed   func()

	mutex   sync.Mutex
	groups  map[string]Fields
	session *session // nil while no group is watched
	end     context.CancelFunc
	// begin begins what runs until it is canceled. It is nil unless the watcher runs.
	begin   func(run func(ctx context.Context)) context.CancelFunc
	running sync.WaitGroup
}

// New returns a watcher of no group. It calls changed, which must not block, when
// what is known of a group changed.
func New(metadata metadata.Interface, discovery API, changed func()) *Watcher {
	return &Watcher{metadata: metadata, discovery: discovery, changed: changed, end: func() {}}
}

// Watch watches these groups from now on, and no others, and looks up these fields in
// each. Without groups it watches no definitions either.
func (w *Watcher) Watch(groups map[string]Fields) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.groups = groups
	w.adjust()
}

// adjust makes the session that the groups need. Its caller has locked the mutex.
func (w *Watcher) adjust() {
	if w.begin == nil {
		return
	}
	if len(w.groups) == 0 {
		w.end()
		w.session = nil
		return
	}
	if w.session == nil {
		w.session = newSession(w.metadata, w.discovery, w.changed)
		w.end = w.begin(w.session.run)
	}
	w.session.watch(w.groups)
}

// Group returns what is known of a group that is watched.
func (w *Watcher) Group(name string) Group {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.session == nil {
		return Group{}
	}
	return w.session.group(name)
}

// Start implements manager.Runnable: it begins the watches that are needed, ends all
// of them with the context, and returns when they have ended.
func (w *Watcher) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, log.Log.WithName("apidiscovery"))
	w.mutex.Lock()
	w.begin = func(run func(context.Context)) context.CancelFunc {
		session, end := context.WithCancel(ctx)
		w.running.Go(func() { run(session) })
		return end
	}
	w.adjust()
	w.mutex.Unlock()
	<-ctx.Done()
	w.mutex.Lock()
	w.begin = nil
	w.end()
	w.mutex.Unlock()
	w.running.Wait()
	return nil
}
