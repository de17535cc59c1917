// Package served knows which kinds the managed cluster's API server serves, in
// the groups that are asked for and no others. It learns of changes by watching
// CustomResourceDefinitions and APIServices, of which it needs the metadata
// alone, and then asks the API server's discovery about the group concerned.
package served

import (
	"context"
	"maps"
	"reflect"
	"sync"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Group is what is known of an API group.
type Group struct {
	// Known is false as long as the API server has not answered.
	Known bool
	// Kinds maps each kind to the versions in which it is served, in the API
	// server's order of preference. Shared: it must not be changed.
	Kinds map[string][]string
	// Failures maps each version that could not be asked about to the cause.
	Failures map[string]string
	// Forbidden is, where the agent lacks a right that it needs to know
	// anything, which.
	Forbidden string
}

// A group is asked about anew this long after the last question, as long as it
// has been changing: discovery follows an event within moments, not before it.
var settling = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}

// A group that could not be asked about is asked again after retryFirst, then
// ever later: never later than retryLost where the whole API server did not
// answer, and than retryFailed where it does not know what another one serves,
// which is also told by an event once that is back.
const (
	retryFirst  = time.Second
	retryLost   = 15 * time.Second
	retryFailed = 5 * time.Minute
)

// doubts is how often in a row something must fail, or be forbidden, before
// what was known no longer counts: an API server that starts fails for moments
// too, and forbids what it will allow.
const doubts = 3

// Watcher knows the groups that it was told to follow. It is safe for
// concurrent use.
type Watcher struct {
	metadata  metadata.Interface
	discovery rest.Interface
	changed   func()

	mutex     sync.Mutex
	groups    map[string]*group
	refusals  map[string]int    // how often in a row something may not be watched
	forbidden map[string]string // what may certainly not be, and the cause
	session   *session          // nil while no group is followed
	stopped   bool
	running   sync.WaitGroup
}

// group is what is remembered of a group that is followed.
type group struct {
	answer Group
	asked  int // how often since something changed in it
	failed int // how often in a row it could not be asked, or not all of it
}

// New returns a watcher that follows no group. It calls changed, which must not
// block, whenever what is known has changed.
func New(metadata metadata.Interface, discovery rest.Interface, changed func()) *Watcher {
	return &Watcher{
		metadata: metadata, discovery: discovery, changed: changed,
		groups: map[string]*group{}, refusals: map[string]int{}, forbidden: map[string]string{},
	}
}

// Follow has these groups followed from now on, and no others. Nothing is
// watched while there are none.
func (w *Watcher) Follow(groups map[string]bool) {
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
			w.session.ask(name)
		}
	}
}

// Group returns what is known of a group that is followed.
func (w *Watcher) Group(name string) Group {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known, ok := w.groups[name]
	switch {
	case !ok:
		return Group{}
	case len(w.forbidden) > 0:
		// What cannot be kept fresh is not worth telling.
		return Group{Known: true, Forbidden: first(w.forbidden)}
	default:
		return known.answer
	}
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

// begin starts to watch; its caller holds the mutex, as that of end does.
func (w *Watcher) begin() {
	ctx, cancel := context.WithCancel(log.IntoContext(context.Background(), log.Log.WithName("served")))
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
	clear(w.refusals)
	clear(w.forbidden)
}

// followed are the groups that the session is to know.
func (w *Watcher) followed(by *session) []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.session != by {
		return nil
	}
	names := make([]string, 0, len(w.groups))
	for name := range w.groups {
		names = append(names, name)
	}
	return names
}

// stirred notes that something changed in a group, and reports whether that
// matters.
func (w *Watcher) stirred(by *session, name string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.session != by || w.groups[name] == nil {
		return false
	}
	w.groups[name].asked = 0
	return true
}

// learned keeps the answer on a group, or that there was none, and returns when
// to ask again; zero is not before something changes.
func (w *Watcher) learned(by *session, name string, answer Group, err error) time.Duration {
	w.mutex.Lock()
	known := w.groups[name]
	if w.session != by || known == nil {
		w.mutex.Unlock()
		return 0
	}
	failing := err == nil && answer.failing()
	if err != nil || failing {
		known.failed++
	} else {
		known.failed = 0
	}
	doubtful := failing && !known.answer.failing() && known.failed < doubts
	changed := err == nil && !doubtful && !reflect.DeepEqual(known.answer, answer)
	if changed {
		known.answer = answer
	}
	again := known.next(err != nil)
	w.mutex.Unlock()
	if changed {
		w.changed()
	}
	return again
}

// failing reports whether not all could be found out.
func (g Group) failing() bool { return len(g.Failures) > 0 || g.Forbidden != "" }

// next is when to ask again about a group that was just asked about; lost is
// whether nobody answered.
func (g *group) next(lost bool) time.Duration {
	switch {
	case lost:
		return backoff(g.failed, retryLost)
	case g.failed > 0:
		return backoff(g.failed, retryFailed)
	case g.asked < len(settling):
		g.asked++
		return settling[g.asked-1]
	default:
		return 0
	}
}

func backoff(failures int, limit time.Duration) time.Duration {
	return min(retryFirst<<min(failures-1, 16), limit)
}

// refused counts that something may not be watched, and keeps the cause.
func (w *Watcher) refused(by *session, what, cause string) {
	w.mutex.Lock()
	changed := false
	if w.session == by {
		w.refusals[what]++
		changed = w.refusals[what] >= doubts && w.forbidden[what] == ""
	}
	if changed {
		w.forbidden[what] = cause
	}
	w.mutex.Unlock()
	if changed {
		w.changed()
	}
}

// granted keeps that something may be watched.
func (w *Watcher) granted(by *session, what string) {
	w.mutex.Lock()
	delete(w.refusals, what)
	changed := w.session == by && w.forbidden[what] != ""
	if changed {
		delete(w.forbidden, what)
	}
	w.mutex.Unlock()
	if changed {
		w.changed()
	}
}

// first is the value of the first key.
func first(values map[string]string) string {
	smallest := ""
	for key := range values {
		if smallest == "" || key < smallest {
			smallest = key
		}
	}
	return values[smallest]
}
