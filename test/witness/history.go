package witness

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Write is a request to write and its change, or a change without a known request.
type Write struct {
	Time   time.Time
	Object Object
	Writer Writer
	// Refused is true if the API server responded with an error.
	Refused bool
	// Before is the state before the write. It is nil if the object did not exist. Both states are nil for objects
	// that are not observed.
	Before, After *State
}

// Unchanged reports whether the API server accepted the write and nothing changed.
func (w Write) Unchanged() bool {
	return !w.Refused && w.Before != nil && w.After != nil && sameContent(*w.Before, *w.After)
}

// version returns the stored version, by which the writes of an object are ordered.
func (w Write) version() uint64 {
	if w.After == nil {
		return 0
	}
	return w.After.Version
}

// observation is a state that a watch delivered.
type observation struct {
	object Object
	state  State
	seen   time.Time
}

// record holds the states and requests that a witness has read, in no order.
type record struct {
	// since is the start of the record. Earlier writes are not judged.
	since        time.Time
	base         map[Object]State
	observations []observation
	requests     []Request
}

// writes joins states and requests, and returns them in the order of their versions. Requests that stored nothing
// follow in the order of time.
func (r record) writes() []Write {
	states := r.states()
	requests, deletions := map[Object][]Request{}, map[Object][]Request{}
	var writes []Write
	for _, request := range r.requests {
		switch {
		case request.State != nil:
			requests[request.Object] = append(requests[request.Object], request)
		case request.Verb == "delete" && !request.Refused && states[request.Object] != nil:
			deletions[request.Object] = append(deletions[request.Object], request)
		case request.Refused || states[request.Object] == nil:
			writes = append(writes, Write{Time: request.Received, Object: request.Object, Writer: request.Writer, Refused: request.Refused})
		}
	}
	for object, states := range states {
		writes = append(writes, r.writesOf(object, states, byVersion(requests[object]), deletions[object])...)
	}
	writes = slices.DeleteFunc(writes, func(w Write) bool { return w.Time.Before(r.since) })
	slices.SortStableFunc(writes, func(a, b Write) int {
		return cmp.Or(cmp.Compare(a.version(), b.version()), a.Time.Compare(b.Time))
	})
	return writes
}

// writesOf returns the writes to one object. The first request whose response has a version stored that version. The
// others with the same version changed nothing. Requests that were based on it come last, because the log may have
// their responses before the response of the request that stored it.
func (r record) writesOf(object Object, states []observation, requests map[uint64][]Request, deletions []Request) []Write {
	var writes []Write
	var before *State
	for i := range states {
		after := &states[i].state
		matching := requests[after.Version]
		if after.Deleted {
			matching, deletions = split(deletions)
		}
		if base, ok := r.base[object]; !ok || base.Version != after.Version || after.Deleted {
			write := Write{Time: states[i].seen, Object: object, Before: before, After: after}
			if len(matching) > 0 {
				write.Time, write.Writer, matching = matching[0].Received, matching[0].Writer, matching[1:]
			}
			writes = append(writes, write)
		}
		for _, request := range matching {
			if request.State.Ended { // the watch delivers the deletion
				continue
			}
			writes = append(writes, Write{Time: request.Received, Object: object, Writer: request.Writer, Before: after, After: after})
		}
		before = after
		if after.Deleted {
			before = nil
		}
	}
	return writes
}

// split returns the first deletion, and the other deletions.
func split(deletions []Request) (first, others []Request) {
	if len(deletions) == 0 {
		return nil, nil
	}
	return deletions[:1], deletions[1:]
}

// states returns the states of each object in the order of versions: the states that the watches delivered, and those
// that only the audit log has, from moments without a watch. Just after a change of a CRD, a watch may still deliver
// an object without its new fields. Therefore a dependency is declared if either of the two shows it.
func (r record) states() map[Object][]observation {
	states := map[Object][]observation{}
	declarations := map[Object]map[uint64]map[string]bool{}
	add := func(o observation) {
		if declarations[o.object] == nil {
			declarations[o.object] = map[uint64]map[string]bool{}
		}
		if dependencies, ok := declarations[o.object][o.state.Version]; ok && !o.state.Deleted {
			if dependencies != nil {
				maps.Copy(dependencies, o.state.Declared)
			}
			return
		}
		o.state.Declared = maps.Clone(o.state.Declared)
		declarations[o.object][o.state.Version] = o.state.Declared
		states[o.object] = append(states[o.object], o)
	}
	for object, state := range r.base {
		add(observation{object, state, r.since})
	}
	for _, o := range r.observations {
		add(o)
	}
	for _, request := range r.requests {
		if base, ok := r.base[request.Object]; request.State != nil && (!ok || request.State.Version > base.Version) {
			add(observation{request.Object, *request.State, request.Done})
		}
	}
	for object := range maps.Keys(states) {
		slices.SortStableFunc(states[object], func(a, b observation) int { return cmp.Compare(a.state.Version, b.state.Version) })
	}
	return states
}

func byVersion(requests []Request) map[uint64][]Request {
	slices.SortStableFunc(requests, func(a, b Request) int {
		if a.storedNothing() != b.storedNothing() {
			if a.storedNothing() {
				return 1
			}
			return -1
		}
		return a.Done.Compare(b.Done)
	})
	versions := map[uint64][]Request{}
	for _, request := range requests {
		versions[request.State.Version] = append(versions[request.State.Version], request)
	}
	return versions
}

// unexplained returns the observations whose request is not in the log. A deletion needs no request, because the
// request that deletes many objects does not name their versions.
func (r record) unexplained() []observation {
	type stored struct {
		object  Object
		version uint64
	}
	explained := map[stored]bool{}
	for _, request := range r.requests {
		if request.State != nil {
			explained[stored{request.Object, request.State.Version}] = true
		}
	}
	var missing []observation
	for _, o := range r.observations {
		if !o.state.Deleted && !o.state.Deleting && !explained[stored{o.object, o.state.Version}] {
			missing = append(missing, o)
		}
	}
	return missing
}
