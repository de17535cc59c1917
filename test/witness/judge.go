package witness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// judge finds changes that have no cause in the schedule. The writes are in the order of storage.
func judge(writes []Write, schedule schedule) []Finding {
	schedule = schedule.withStockTrues(writes)
	findings := slices.Concat(
		unchanged(writes),
		flips(writes, schedule),
		disquiet(writes, schedule),
		answers(writes, schedule),
		losses(writes, schedule),
	)
	return sorted(findings)
}

func (w Write) finding(kind Kind, format string, arguments ...any) Finding {
	return Finding{Kind: kind, Time: w.Time, Object: w.Object, Writer: w.Writer, Detail: fmt.Sprintf(format, arguments...)}
}

func unchanged(writes []Write) []Finding {
	var findings []Finding
	for _, w := range writes {
		if w.Unchanged() && w.Writer.Interlock() {
			findings = append(findings, w.finding(NoChange, "version %d", w.version()))
		}
	}
	return findings
}

// move is a judged change of one value.
type move struct {
	kind          Kind
	name          string // of the condition or label
	scope         Scope
	before, after string
}

// moves returns the changes of conditions and labels that a write made to an existing object.
func (w Write) moves() []move {
	if w.Before == nil || w.After == nil || w.After.Deleted {
		return nil
	}
	var moves []move
	for _, name := range []string{"Available", "Degraded"} {
		before, after := w.Before.Conditions[name], w.After.Conditions[name]
		if before != after {
			moves = append(moves, move{Flip, name, w.Object.scope(), before.String(), after.String()})
		}
	}
	for _, addOn := range slices.Sorted(maps.Keys(union(w.Before.Labels, w.After.Labels))) {
		before, after := w.Before.Labels[addOn], w.After.Labels[addOn]
		if before != after {
			moves = append(moves, move{LabelMoved, labelPrefix + addOn, AddOn(w.Object.Name, addOn), quoted(before), quoted(after)})
		}
	}
	return moves
}

func quoted(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}

func union(a, b map[string]string) map[string]string {
	merged := maps.Clone(a)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, b)
	return merged
}

// subject is a value of an object.
type subject struct {
	object Object
	name   string
}

func subjectOf(w Write, name string) subject { return subject{w.Object, name} }

// path is the sequence of a value's moves within an epoch.
type path struct {
	epoch  int
	values []string
	// restored is true if another writer has restored a value that Interlock replaced.
	restored bool
	// writer made the last move.
	writer Writer
	// overlaps is how often a value returned because two other writers overlapped.
	overlaps int
}

// maxOverlaps is two: the older value returns, and then its replacement.
const maxOverlaps = 2

// overlap reports whether a value returns because a managed cluster was lost or is back. OCM's hub then sets
// Available of each add-on to Unknown, one after the other, and OCM's add-on manager sets the results of its probes.
// Each may have begun before the other one wrote, so the later write is replaced at once. Interlock is not involved.
func (p *path) overlap(w Write, m move) bool {
	lost := Condition{"Unknown", "ManagedClusterLeaseUpdateStopped"}.String()
	if m.kind == LabelMoved {
		lost = "unreachable"
	}
	return p.overlaps < maxOverlaps && (m.before == lost || m.after == lost) && !p.writer.Interlock() && !w.Writer.Interlock()
}

// flips returns the values that return to an earlier value of the same epoch.
func flips(writes []Write, schedule schedule) []Finding {
	var findings []Finding
	paths := map[subject]*path{}
	for _, w := range writes {
		for _, m := range w.moves() {
			number, last := schedule.epoch(w, m.scope)
			subject := subjectOf(w, m.name)
			p := paths[subject]
			if p == nil || p.epoch != number {
				p = &path{epoch: number}
				if last.version == 0 || last.version != w.version() { // the write is not itself the cause
					p.values = []string{m.before}
				}
				paths[subject] = p
			}
			returns, overlaps := slices.Contains(p.values, m.after), p.overlap(w, m)
			p.values, p.writer = append(p.values, m.after), w.Writer
			switch {
			case returns && schedule.restorable(w, m) && !p.restored:
				p.restored = true
				continue
			case returns && overlaps:
				p.overlaps++
				continue
			case returns && p.follows(w, m, paths[subjectOf(w, "Degraded")]):
				continue
			}
			// A label follows a stock True, and returns with it.
			if returns && (m.kind != LabelMoved || last.version == 0) {
				findings = append(findings, w.finding(m.kind, "%s %s%s", m.name, strings.Join(lastOf(p.values), " → "), last.since()))
			}
		}
	}
	return findings
}

// follows reports whether Available returns because the dependency rule ends: Degraded has left its finding, and has
// not had it before. For example, the lease of an add-on is not found yet once its dependencies are satisfied.
func (p *path) follows(w Write, m move, degraded *path) bool {
	rule := Condition{"False", addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied}.String()
	if m.name != "Available" || m.before != rule || !w.Writer.Interlock() || degraded == nil || degraded.epoch != p.epoch {
		return false
	}
	failing := Condition{"True", addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied}.String()
	seen := map[string]bool{}
	for _, value := range degraded.values {
		if seen[value] {
			return false
		}
		seen[value] = true
	}
	return degraded.values[len(degraded.values)-1] != failing
}

func lastOf(values []string) []string { return values[max(0, len(values)-4):] }

func (c cause) since() string {
	if c.name == "" {
		return ", without a cause"
	}
	return fmt.Sprintf(", since %q", c.name)
}

// disquiet returns the changes in quiet periods. On a hub without a guard, stock Trues and their consequences are
// left out.
func disquiet(writes []Write, schedule schedule) []Finding {
	var findings []Finding
	for _, w := range writes {
		if !schedule.isQuiet(w.Time) {
			continue
		}
		if w.Writer.Interlock() && schedule.provoked(w, w.Object.scope()) == 0 {
			findings = append(findings, w.finding(NotQuiet, "a write%s", w.outcome()))
		}
		for _, m := range w.moves() {
			if schedule.provoked(w, m.scope) == 0 {
				findings = append(findings, w.finding(disquietOf(m.kind), "%s %s → %s in a quiet period", m.name, m.before, m.after))
			}
		}
	}
	return findings
}

// restlessness returns the disquiet of a period, as if the period had to be quiet.
func (s schedule) restlessness(writes []Write, p period) []Finding {
	s = s.withStockTrues(writes)
	s.quiet = []period{p}
	return disquiet(writes, s)
}

func disquietOf(kind Kind) Kind {
	if kind == Flip {
		return NotQuiet
	}
	return kind
}

func (w Write) outcome() string {
	switch {
	case w.Refused:
		return ", refused"
	case w.Unchanged():
		return " without a change"
	}
	return ""
}

// answers returns the writes of Interlock after the first one that follows a stock True. A refused write stores
// nothing: another writer came first, and Interlock retries. Interlock may write once for each finding on
// dependencies. A write that changes the finding does not count.
func answers(writes []Write, schedule schedule) []Finding {
	var findings []Finding
	type answered struct {
		object           Object
		stockTrue, epoch int
		finding          string
	}
	count := map[answered]int{}
	for _, w := range writes {
		number := schedule.provoked(w, w.Object.scope())
		if w.Object.Resource != addOns || !w.Writer.Interlock() || w.Refused || number == 0 {
			continue
		}
		epoch, last := schedule.epoch(w, w.Object.scope())
		if last.version == 0 && !schedule.isQuiet(w.Time) { // it may follow from the cause that the test declared
			continue
		}
		key := answered{object: w.Object, stockTrue: number, epoch: epoch}
		if w.After != nil {
			key.finding = w.After.Finding
		}
		if w.Before != nil && w.Before.Finding != key.finding {
			continue
		}
		count[key]++
		if count[key] > 1 {
			findings = append(findings, w.finding(AnsweredTwice, "write number %d after a stock True%s", count[key], w.outcome()))
		}
	}
	return findings
}

// losses returns the declarations, registrations and add-ons that disappeared without an intent. An intent ends when
// its object returns.
func losses(writes []Write, schedule schedule) []Finding {
	var findings []Finding
	lastReturns := map[Object]Write{}
	for _, w := range writes {
		if w.Object.Resource != addOns && w.Object.Resource != registrations || w.After == nil {
			continue
		}
		gained, lost := w.declarations()
		if w.Before == nil || len(gained) > 0 {
			lastReturns[w.Object] = w
		}
		if schedule.intended(w, lastReturns[w.Object]) {
			continue
		}
		if len(lost) > 0 {
			findings = append(findings, w.finding(DeclarationLost, "%s", strings.Join(lost, ", ")))
		}
		if w.After.Deleted {
			findings = append(findings, w.finding(Deleted, "removed from storage"))
		}
	}
	return findings
}

// declarations returns the names that a write added and removed.
func (w Write) declarations() (gained, lost []string) {
	if w.Before == nil || w.Before.Declared == nil || w.After.Declared == nil || w.After.Deleted {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(w.After.Declared)) {
		if !w.Before.Declared[name] {
			gained = append(gained, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Before.Declared)) {
		if !w.After.Declared[name] {
			lost = append(lost, name)
		}
	}
	return gained, lost
}

func (s schedule) intended(w, returned Write) bool {
	for _, r := range s.removals {
		if r.name == w.Object.Name && !r.time.After(w.Time) && !r.time.Before(returned.Time) {
			return true
		}
	}
	return false
}
