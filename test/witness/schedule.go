package witness

import (
	"slices"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

// schedule is what a test did, and when.
type schedule struct {
	causes   []cause
	removals []removal
	quiet    []period
	// unguarded: no guard is in force. A stock True beside a failing Required
	// dependency is then legal, and one write of Interlock follows it. The other
	// writer may restore its own False or Unknown once in each epoch.
	unguarded bool
}

// cause opens an epoch: conditions and labels in its scope may move once more.
type cause struct {
	what   string
	scopes []Scope
	at     time.Time
	// version is that of the write that is the cause, if it is a stock True.
	version uint64
	// over is the write after which no write has to follow a stock True: the Required
	// dependency no longer fails. Nil until then.
	over *Write
}

func (c cause) before(w Write) bool {
	if c.version != 0 && w.version() != 0 {
		return c.version <= w.version()
	}
	return !c.at.After(w.Time)
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
	at   time.Time
}

type period struct{ from, to time.Time }

func (p period) has(t time.Time) bool { return !t.Before(p.from) && t.Before(p.to) }

func (s schedule) isQuiet(t time.Time) bool {
	for _, p := range s.quiet {
		if p.has(t) {
			return true
		}
	}
	return false
}

// epoch is the number of causes so far, and the last one of them.
func (s schedule) epoch(w Write, scope Scope) (number int, last cause) {
	for _, c := range s.causes {
		if c.affects(scope) && c.before(w) {
			number++
			last = c
		}
	}
	return number, last
}

// withStockTrues adds each stock True that no guard kept away as a cause.
func (s schedule) withStockTrues(writes []Write) schedule {
	if !s.unguarded {
		return s
	}
	s.causes = slices.Clone(s.causes)
	for i, w := range writes {
		if isStockTrue(w) {
			s.causes = append(
				s.causes,
				cause{what: "a stock True", scopes: []Scope{w.Object.scope()}, at: w.Time, version: w.version(), over: over(writes[i:])},
			)
		}
	}
	return s
}

// over is the first write that ends what a stock True lets happen. The stock True
// is the first of the writes.
func over(writes []Write) *Write {
	for i := range writes {
		if w := &writes[i]; w.Object == writes[0].Object && w.After != nil && !required(*w.After) {
			return w
		}
	}
	return nil
}

// provoked is the number of stock Trues before a write, if it may follow from the last
// one: Interlock's write, and the label. A cause of the test that comes between changes
// nothing, because Interlock's write may come late.
func (s schedule) provoked(w Write, scope Scope) (number int) {
	follows := false
	for _, c := range s.causes {
		if c.version == 0 || !c.affects(scope) || !c.before(w) {
			continue
		}
		number++
		follows = c.over == nil || !(cause{at: c.over.Time, version: c.over.version()}).before(w)
	}
	if !follows {
		return 0
	}
	return number
}

// restorable reports whether a value may return once in an epoch. Without a guard,
// Interlock sets Available to False once for each finding on a Required dependency.
// Another writer may put its own False or Unknown back, any writer may once the
// dependency no longer fails, and the label follows.
func (s schedule) restorable(w Write, m move) bool {
	if !s.unguarded || m.kind == LabelMoved {
		return s.unguarded
	}
	before := w.Before.Conditions["Available"].Reason
	return m.name == "Available" && (!w.Writer.Interlock() || !required(*w.After)) &&
		(before == availability.ReasonRequiredDependencyNotSatisfied || before == availability.ReasonAwaitingHealthCheck)
}

// isStockTrue: another writer set Available to True beside a failing Required dependency.
func isStockTrue(w Write) bool {
	return w.After != nil && w.Object.Resource == addOns && !w.Writer.Interlock() && !w.Unchanged() &&
		w.After.Conditions["Available"].Status == "True" && required(*w.After) &&
		(w.Before == nil || w.Before.Conditions["Available"].Status != "True")
}

func required(state State) bool {
	return state.Conditions["Degraded"] == Condition{"True", addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied}
}
