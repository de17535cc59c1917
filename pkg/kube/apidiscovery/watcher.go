// Package apidiscovery discovers the kinds that the API server of a managed cluster or of
// the hub serves, in the groups that dependencies refer to. It watches the metadata of
// CustomResourceDefinitions and APIServices. When one of them changes, it reads the
// discovery documents of that group. If dependencies refer to fields, it also reads the
// OpenAPI documents of the group's versions.
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
	// Client is the name of the reading component for messages, such as addon-agent.
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
	// begin starts a function that runs until it is canceled. It is nil unless the watcher runs.
	begin   func(run func(ctx context.Context)) context.CancelFunc
	running sync.WaitGroup
}

// New returns a watcher without groups. It calls changed, which must not block, when the
// result for a group changes.
func New(metadata metadata.Interface, discovery API, changed func()) *Watcher {
	return &Watcher{metadata: metadata, discovery: discovery, changed: changed, end: func() {}}
}

// Watch replaces the watched groups, and the fields to look up in each. Without groups, no
// definitions are watched.
func (w *Watcher) Watch(groups map[string]Fields) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.groups = groups
	w.adjust()
}

// adjust starts or ends the session that the groups need. The caller must hold the mutex.
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

// Group returns the last result for a watched group.
func (w *Watcher) Group(name string) Group {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.session == nil {
		return Group{}
	}
	return w.session.group(name)
}

// Start implements manager.Runnable. It starts the needed watches, ends them with the
// context, and returns after they have ended.
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
