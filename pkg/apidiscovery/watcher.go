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
	session *session // nil while no group is watched
	end     context.CancelFunc
	stopped bool
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
	if w.stopped {
		return
	}
	if len(groups) == 0 {
		w.end()
		w.session = nil
		return
	}
	if w.session == nil {
		ctx, end := context.WithCancel(log.IntoContext(context.Background(), log.Log.WithName("apidiscovery")))
		started := newSession(w.metadata, w.discovery, w.changed)
		w.session, w.end = started, end
		w.running.Go(func() { started.run(ctx) })
	}
	w.session.watch(groups)
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

// Start implements manager.Runnable: it ends all watches with the context, and
// returns when they have ended.
func (w *Watcher) Start(ctx context.Context) error {
	<-ctx.Done()
	w.mutex.Lock()
	w.stopped = true
	w.end()
	w.mutex.Unlock()
	w.running.Wait()
	return nil
}
