package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/report/page"
)

// Fleet is the current state of a hub, for all views of it.
type Fleet struct {
	mutex  sync.Mutex
	latest moment
	// computing is held while a view is computed. Views are computed one after the other, so that many of them leave processors for others.
	computing sync.Mutex
}

// moment is the state of a hub at one moment.
type moment struct {
	// hub is nil before the first update. generation is the number of updates.
	hub        *snapshot.Snapshot
	generation int
	options    func(*snapshot.Snapshot) overview.Options
	// trouble is the reason why the hub is not current. It is empty while the hub can be read.
	trouble string
	// changed is closed at the next change.
	changed chan struct{}
}

// NewFleet returns a fleet that has not been read yet.
func NewFleet() *Fleet { return &Fleet{latest: moment{changed: make(chan struct{})}} }

// Update replaces the state of the hub. The options are the inputs of the overview of a view.
func (f *Fleet) Update(hub *snapshot.Snapshot, options func(*snapshot.Snapshot) overview.Options) {
	hub.KeepFindings() // before several views read it
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.latest.hub, f.latest.options, f.latest.trouble = hub, options, ""
	f.latest.generation++
	f.notify()
}

// SetTrouble sets the reason why the state is not current.
func (f *Fleet) SetTrouble(reason string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.latest.trouble = reason
	f.notify()
}

// notify wakes all viewers.
func (f *Fleet) notify() {
	close(f.latest.changed)
	f.latest.changed = make(chan struct{})
}

func (f *Fleet) moment() moment {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.latest
}

// Hub returns the last state of the hub. It is nil before the first update.
func (f *Fleet) Hub() *snapshot.Snapshot { return f.moment().hub }

// View is a fleet as some viewers may see it. It is computed when a viewer needs it, once for all of its viewers.
type View struct {
	fleet *Fleet
	// limit returns the part of the fleet that the viewers may see. It is nil for all of it.
	limit func(*snapshot.Snapshot) *snapshot.Snapshot

	mutex sync.Mutex
	// shown is the last computed state. It is nil before the first.
	shown *state
	// pause is how long the last computation took. The next one begins that much later at least.
	pause time.Duration
	ended time.Time
}

// NewView returns a view of a part of a fleet. If limit is nil, it is the whole fleet.
func NewView(fleet *Fleet, limit func(*snapshot.Snapshot) *snapshot.Snapshot) *View {
	return &View{fleet: fleet, limit: limit}
}

// state is the state of a view at one moment.
type state struct {
	generation int
	// version is the number of states with other contents before it.
	version int
	hub     *snapshot.Snapshot
	finder  *overview.Finder
	groupBy string
	// content is a hash of the overview without its time. overview is an encoded event.
	content  [sha256.Size]byte
	overview []byte
}

// rest returns how long the next computation has to wait. Half of the time is left for other work so, whatever the size of the fleet.
func (v *View) rest() time.Duration {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.pause - time.Since(v.ended)
}

// at returns the state of the view at a moment at which the hub has been read, or at a later one.
func (v *View) at(now moment) (*state, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.shown != nil && v.shown.generation >= now.generation {
		return v.shown, nil
	}
	v.fleet.computing.Lock()
	defer v.fleet.computing.Unlock()
	began := time.Now()
	hub := now.hub
	if v.limit != nil {
		hub = v.limit(hub)
	}
	options := now.options(hub)
	options.Interactive = true
	next := &state{generation: now.generation, hub: hub, finder: overview.New(hub, options), groupBy: options.GroupBy}
	if err := next.encode(v.shown); err != nil {
		return nil, err
	}
	v.shown = next
	v.ended = time.Now()
	v.pause = v.ended.Sub(began)
	return v.shown, nil
}

// encode encodes the overview of a state after a previous one, which may be nil.
func (s *state) encode(previous *state) error {
	shown := struct {
		*overview.Overview

		Legend []page.StateText `json:"legend"`
	}{s.finder.Overview(), page.Legend()}
	var err error
	if s.overview, err = event("overview", shown); err != nil {
		return err
	}
	shown.Taken = time.Time{}
	content, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("encode the content of an overview: %w", err)
	}
	s.content = sha256.Sum256(content)
	if previous != nil {
		s.version = previous.version
		if s.content != previous.content {
			s.version++
		}
	}
	return nil
}

// event encodes an event of a stream of events. JSON has no line breaks.
func event(name string, data any) ([]byte, error) {
	encoded, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode the event %s: %w", name, err)
	}
	return bytes.Join([][]byte{[]byte("event: " + name + "\ndata: "), encoded, []byte("\n\n")}, nil), nil
}
