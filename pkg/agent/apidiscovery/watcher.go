// Package apidiscovery knows which kinds the managed cluster's API server serves, in
// the groups that dependencies refer to and no others. It watches the metadata of
// CustomResourceDefinitions and APIServices. When one of them changes, it reads the
// discovery documents of that group.
package apidiscovery

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Watcher discovers the groups that it watches. It is safe for concurrent use.
type Watcher struct {
	metadata  metadata.Interface
	discovery rest.Interface
	changed   func()

	mutex   sync.Mutex
	groups  map[string]*group
	rights  rights
	session *session // nil while no group is watched
	stopped bool
	running sync.WaitGroup
}

// New returns a watcher of no group. It calls changed, which must not block, when
// what is known of a group changed.
func New(metadata metadata.Interface, discovery rest.Interface, changed func()) *Watcher {
	return &Watcher{
		metadata: metadata, discovery: discovery, changed: changed,
		groups: map[string]*group{}, rights: rights{},
	}
}

// Watch watches these groups from now on, and no others. Without groups it watches
// no definitions either.
func (w *Watcher) Watch(groups map[string]bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.stopped {
		return
	}
	maps.DeleteFunc(w.groups, func(name string, _ *group) bool { return !groups[name] })
	if len(groups) == 0 {
		w.end()
		return
	}
	if w.session == nil {
		w.begin()
	}
	for name := range groups {
		if w.groups[name] == nil {
			w.groups[name] = &group{}
			w.session.enqueue(name)
		}
	}
}

// Group returns what is known of a group that is watched.
func (w *Watcher) Group(name string) Group {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	watched := w.groups[name]
	if watched == nil {
		return Group{}
	}
	if missing := w.rights.missing(); missing != "" {
		// Without the watch, what is known would grow old unnoticed.
		return Group{Known: true, Forbidden: missing}
	}
	return watched.known
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

// begin starts a session. Its caller has locked the mutex, like that of end.
func (w *Watcher) begin() {
	ctx, cancel := context.WithCancel(log.IntoContext(context.Background(), log.Log.WithName("apidiscovery")))
	started := newSession(w, cancel)
	w.session = started
	w.running.Go(func() { started.run(ctx) })
}

func (w *Watcher) end() {
	if w.session != nil {
		w.session.cancel()
		w.session = nil
	}
	clear(w.groups)
	clear(w.rights)
}

// watched returns the groups of a session; none when it is no longer the current one.
func (w *Watcher) watched(by *session) []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.session != by {
		return nil
	}
	return slices.Collect(maps.Keys(w.groups))
}

// definitionChanged reports whether the group is watched, and discovers it more often
// for a while if so.
func (w *Watcher) definitionChanged(by *session, name string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.session != by || w.groups[name] == nil {
		return false
	}
	w.groups[name].rechecks = 0
	return true
}

// discovered keeps the result of a discovery. It returns after how long to discover
// the group again; zero: not before a definition changes.
func (w *Watcher) discovered(by *session, name string, result Group, err error) time.Duration {
	var again time.Duration
	w.update(by, func() (changed bool) {
		if watched := w.groups[name]; watched != nil {
			changed, again = watched.discovered(result, err)
		}
		return changed
	})
	return again
}

// watchRefused counts that the API server does not allow a watch.
func (w *Watcher) watchRefused(by *session, resource string) {
	w.update(by, func() bool { return w.rights.refused(resource) })
}

// watchGranted keeps that the API server allows a watch.
func (w *Watcher) watchGranted(by *session, resource string) {
	w.update(by, func() bool { return w.rights.granted(resource) })
}

// update changes what is known, for the current session alone, and reports a change.
func (w *Watcher) update(by *session, change func() bool) {
	w.mutex.Lock()
	changed := w.session == by && change()
	w.mutex.Unlock()
	if changed {
		w.changed()
	}
}
