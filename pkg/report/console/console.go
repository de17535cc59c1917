// Package console serves the overview of a fleet to browsers, and pushes its changes. It has no client of a hub: another component reads the
// hub once for all viewers, and updates the console.
package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/report/page"
)

// Console has the current overview of a fleet.
type Console struct {
	// token authorizes a viewer. hosts are the values of the header Host that requests may have.
	token string
	hosts []string

	mutex sync.Mutex
	// hub and finder are the state of the last update. They are nil before it.
	hub    *snapshot.Snapshot
	finder *overview.Finder
	// groupBy is the label whose values are the groups.
	groupBy string
	// overview and trouble are encoded events. trouble is empty while the hub can be read.
	overview, trouble []byte
	// changed is closed at the next change.
	changed chan struct{}
}

// New returns a console without an overview. Viewers need the token, and the host in their requests must be one of hosts. That check keeps
// other web sites from the console, whose names could be made to resolve to its address.
func New(token string, hosts ...string) *Console {
	return &Console{token: token, hosts: hosts, changed: make(chan struct{})}
}

// Update shows another state of the fleet to all viewers.
func (c *Console) Update(hub *snapshot.Snapshot, options overview.Options) error {
	options.Interactive = true
	finder := overview.New(hub, options)
	encoded, err := event("overview", struct {
		*overview.Overview

		Legend []page.StateText `json:"legend"`
	}{finder.Overview(), page.Legend()})
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.hub, c.finder, c.groupBy, c.overview, c.trouble = hub, finder, options.GroupBy, encoded, nil
	c.notify()
	return nil
}

// SetTrouble shows all viewers why the overview is not current.
func (c *Console) SetTrouble(reason string) error {
	encoded, err := event("trouble", reason)
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.trouble = encoded
	c.notify()
	return nil
}

// notify wakes all viewers.
func (c *Console) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// state is the state of a console at one moment.
type state struct {
	hub               *snapshot.Snapshot
	finder            *overview.Finder
	groupBy           string
	overview, trouble []byte
	changed           <-chan struct{}
}

func (c *Console) state() state {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return state{c.hub, c.finder, c.groupBy, c.overview, c.trouble, c.changed}
}

// event encodes an event of a stream of events. JSON has no line breaks.
func event(name string, data any) ([]byte, error) {
	encoded, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode the event %s: %w", name, err)
	}
	return bytes.Join([][]byte{[]byte("event: " + name + "\ndata: "), encoded, []byte("\n\n")}, nil), nil
}
