package simulator

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// Requests counts the requests of measured users to an API server, from its audit log.
type Requests struct {
	path string

	mutex  sync.Mutex
	offset int64
	counts Counts
}

// Request is a kind of request.
type Request struct {
	User, Verb, Resource string
}

// Counts has the number of requests of each kind.
type Counts map[Request]int

// auditEvent has the fields of an audit event that are counted.
type auditEvent struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource string `json:"resource"`
	} `json:"objectRef"`
}

// Count returns all requests since the API server started.
func (r *Requests) Count() (Counts, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.readOn(); err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	counts := make(Counts, len(r.counts))
	for request, count := range r.counts {
		counts[request] = count
	}
	return counts, nil
}

// During returns the requests while a function runs.
func (r *Requests) During(act func() error) (Counts, error) {
	before, err := r.Count()
	if err != nil {
		return nil, err
	}
	if err := act(); err != nil {
		return nil, err
	}
	after, err := r.Count()
	return after.Since(before), err
}

// readOn counts the new lines. A line without an end is incomplete, and left for the next call.
func (r *Requests) readOn() (err error) {
	file, err := os.Open(r.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // no request was audited yet
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Seek(r.offset, io.SeekStart); err != nil {
		return err
	}
	if r.counts == nil {
		r.counts = Counts{}
	}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		event := auditEvent{}
		if err := json.Unmarshal(line, &event); err != nil {
			return err
		}
		r.offset += int64(len(line))
		r.counts[Request{User: event.User.Username, Verb: event.Verb, Resource: event.ObjectRef.Resource}]++
	}
}

// Since returns the requests after an earlier count.
func (c Counts) Since(earlier Counts) Counts {
	since := Counts{}
	for request, count := range c {
		if count > earlier[request] {
			since[request] = count - earlier[request]
		}
	}
	return since
}

var (
	readVerbs  = []string{"get", "list"}
	writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}
)

// Reads counts the gets and lists of a user, of those resources. Watches do not count, because they are open all the
// time.
func (c Counts) Reads(user string, resources ...string) int {
	return c.sum(user, readVerbs, resources)
}

// Writes counts all writes of a user to those resources.
func (c Counts) Writes(user string, resources ...string) int {
	return c.sum(user, writeVerbs, resources)
}

func (c Counts) sum(user string, verbs, resources []string) int {
	sum := 0
	for request, count := range c {
		if request.User == user && slices.Contains(verbs, request.Verb) && slices.Contains(resources, request.Resource) {
			sum += count
		}
	}
	return sum
}

// The resources that Interlock reads or writes. The lease of leader election is not among them, because it is renewed
// all the time.
var (
	FleetResources = []string{"clustermanagementaddons", "managedclusteraddons", "managedclusters"}
	AllResources   = append([]string{"events"}, FleetResources...)
	// LifecycleResources are those that addon-manager writes with --lifecycle, too.
	LifecycleResources = append([]string{"addoninstallations", "addondeploymentconfigs"}, AllResources...)
)
