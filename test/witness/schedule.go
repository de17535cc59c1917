package witness

import (
	"slices"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

// schedule holds the declared steps of a test, with their times.
type schedule struct {
	causes   []cause
	removals []removal
	quiet    []period
	// unguarded is true if no guard is in force. A stock True beside a failing Required dependency is then legal, and
	// one write of Interlock follows it. The other writer may restore its own False or Unknown once in each epoch.
	unguarded bool
}

// cause opens an epoch: conditions and labels in its scope may move once more.
type cause struct {
	name   string
	scopes []Scope
	time   time.Time
	// version is the version of a stock True that is itself the cause. Otherwise it is zero.
	version uint64
	// end is the write after which a stock True needs no write of Interlock any more, because the Required dependency
	// no longer fails. It is nil before that write.
	end *Write
}

func (c cause) precedes(w Write) bool {
	if c.version != 0 && w.version() != 0 {
		return c.version <= w.version()
	}
	return !c.time.After(w.Time)
}

func (c cause) affects(scope Scope) bool {
	for _, s := range c.scopes {
		if s.overlaps(scope) {
			return true
		}
	}
	return len(c.scopes) == 0
}

// removal is an intent to remove a registration's declarations, or an add-on.
type removal struct {
	name string
	time time.Time
}

type period struct{ start, end time.Time }

func (p period) contains(t time.Time) bool { return !t.Before(p.start) && t.Before(p.end) }

func (s schedule) isQuiet(t time.Time) bool {
	for _, p := range s.quiet {
		if p.contains(t) {
			return true
		}
	}
	return false
}

// epoch returns the number of causes so far, and the last cause.
func (s schedule) epoch(w Write, scope Scope) (int, cause) {
	number, last := 0, cause{}
	for _, c := range s.causes {
		if c.affects(scope) && c.precedes(w) {
			number++
			last = c
		}
	}
	return number, last
}

// withStockTrues adds each stock True that no guard corrected as a cause.
func (s schedule) withStockTrues(writes []Write) schedule {
	if !s.unguarded {
		return s
	}
	s.causes = slices.Clone(s.causes)
	for i, w := range writes {
		if isStockTrue(w) {
			s.causes = append(
				s.causes,
				cause{name: "a stock True", scopes: []Scope{w.Object.scope()}, time: w.Time, version: w.version(), end: endOf(writes[i:])},
			)
		}
	}
	return s
}

// endOf returns the write that ends the consequences of a stock True. The stock True is the first of the writes.
func endOf(writes []Write) *Write {
	for i := range writes {
		if w := &writes[i]; w.Object == writes[0].Object && w.After != nil && !required(*w.After) {
			return w
		}
	}
	return nil
}

// provoked returns the number of stock Trues before a write, if the write may follow from the last of them. That
// applies to Interlock's write and to the label. A cause of the test between them does not matter, because
// Interlock's write may come late.
func (s schedule) provoked(w Write, scope Scope) int {
	number := 0
	follows := false
	for _, c := range s.causes {
		if c.version == 0 || !c.affects(scope) || !c.precedes(w) {
			continue
		}
		number++
		follows = c.end == nil || !(cause{time: c.end.Time, version: c.end.version()}).precedes(w)
	}
	if !follows {
		return 0
	}
	return number
}

// restorable reports whether a value may return once in an epoch. Without a guard, Interlock sets Available to False
// once for each finding on a Required dependency. Another writer may restore its own False or Unknown. Once the
// dependency no longer fails, any writer may restore it. The label follows.
func (s schedule) restorable(w Write, m move) bool {
	if !s.unguarded || m.kind == LabelMoved {
		return s.unguarded
	}
	before := w.Before.Conditions["Available"].Reason
	return m.name == "Available" && (!w.Writer.Interlock() || !required(*w.After)) &&
		(before == availability.ReasonRequiredDependencyNotSatisfied || before == availability.ReasonAwaitingHealthCheck)
}

// isStockTrue reports whether another writer set Available to True beside a failing Required dependency.
func isStockTrue(w Write) bool {
	return w.After != nil && w.Object.Resource == addOns && !w.Writer.Interlock() && !w.Unchanged() &&
		w.After.Conditions["Available"].Status == "True" && required(*w.After) &&
		(w.Before == nil || w.Before.Conditions["Available"].Status != "True")
}

func required(state State) bool {
	return state.Conditions["Degraded"] == Condition{"True", addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied}
}
