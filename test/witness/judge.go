package witness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// judge finds in writes, which are in the order of storage, what has no cause
// in the schedule.
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

// move is a change of one value that is judged.
type move struct {
	kind          Kind
	name          string // of the condition or label
	scope         Scope
	before, after string
}

// moves are those of conditions and labels that a write made to an object that
// was there before.
func (w Write) moves() []move {
	if w.Before == nil || w.After == nil || w.After.Deleted {
		return nil
	}
	var all []move
	for _, name := range []string{"Available", "Degraded"} {
		before, after := w.Before.Conditions[name], w.After.Conditions[name]
		if before != after {
			all = append(all, move{Flip, name, w.Object.scope(), before.String(), after.String()})
		}
	}
	for _, addOn := range slices.Sorted(maps.Keys(union(w.Before.Labels, w.After.Labels))) {
		before, after := w.Before.Labels[addOn], w.After.Labels[addOn]
		if before != after {
			all = append(all, move{LabelMoved, labelPrefix + addOn, AddOn(w.Object.Name, addOn), quoted(before), quoted(after)})
		}
	}
	return all
}

func quoted(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return all
}

// subject is one value of one object.
type subject struct {
	object Object
	name   string
}

func subjectOf(w Write, name string) subject { return subject{w.Object, name} }

// path is how a value moved within an epoch.
type path struct {
	epoch  int
	values []string
	// restored: another writer has put a value back that Interlock replaced.
	restored bool
	// by made the last move.
	by Writer
	// overlaps is how often a value returned because two other writers overlapped.
	overlaps int
}

// maxOverlaps is two: what was begun before comes back, and then what replaced it.
const maxOverlaps = 2

// overlap reports whether a value returns because a managed cluster was lost or is
// back. OCM's hub then sets Available of each add-on to Unknown, one after the other,
// and OCM's add-on manager sets what its probes found. Each may have begun before the
// other one wrote: the later write is replaced at once. Interlock has no part in it.
func (p *path) overlap(w Write, m move) bool {
	lost := Condition{"Unknown", "ManagedClusterLeaseUpdateStopped"}.String()
	if m.kind == LabelMoved {
		lost = "unreachable"
	}
	return p.overlaps < maxOverlaps && (m.before == lost || m.after == lost) && !p.by.Interlock() && !w.Writer.Interlock()
}

// flips are values that return to what they were in the same epoch.
func flips(writes []Write, schedule schedule) []Finding {
	var findings []Finding
	paths := map[subject]*path{}
	for _, w := range writes {
		for _, m := range w.moves() {
			number, last := schedule.epoch(w, m.scope)
			subject := subjectOf(w, m.name)
			way := paths[subject]
			if way == nil || way.epoch != number {
				way = &path{epoch: number}
				if last.version == 0 || last.version != w.version() { // it is not itself the cause
					way.values = []string{m.before}
				}
				paths[subject] = way
			}
			returned, overlaps := slices.Contains(way.values, m.after), way.overlap(w, m)
			way.values, way.by = append(way.values, m.after), w.Writer
			switch {
			case returned && schedule.restorable(w, m) && !way.restored:
				way.restored = true
				continue
			case returned && overlaps:
				way.overlaps++
				continue
			case returned && way.follows(w, m, paths[subjectOf(w, "Degraded")]):
				continue
			}
			// A label follows a stock True there and back again.
			if returned && (m.kind != LabelMoved || last.version == 0) {
				findings = append(findings, w.finding(m.kind, "%s %s%s", m.name, strings.Join(lastOf(way.values), " → "), last.since()))
			}
		}
	}
	return findings
}

// follows reports whether Available returns because the dependency rule ends there: Degraded has left its finding, and has not had it
// before. Its lease, say, is not found yet once the add-on waits no longer.
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
	if c.what == "" {
		return ", without a cause"
	}
	return fmt.Sprintf(", since %q", c.what)
}

// disquiet is what happened in quiet periods, beside stock Trues on a hub
// without a guard and what follows from them.
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

// restlessness is the disquiet of a period, as if that were to be quiet.
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

// answers are writes of Interlock after the first that follows a stock True. A refused
// write stores nothing: another writer came first, and Interlock retries. Each finding
// on dependencies has an answer of its own; a write that changes the finding is none.
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
		if last.version == 0 && !schedule.isQuiet(w.Time) { // it may follow from the test's cause
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

// losses are declarations, registrations and add-ons that are gone without an
// intent. An intent ends when what was removed is there again.
func losses(writes []Write, schedule schedule) []Finding {
	var findings []Finding
	returned := map[Object]Write{}
	for _, w := range writes {
		if w.Object.Resource != addOns && w.Object.Resource != registrations || w.After == nil {
			continue
		}
		gained, lost := w.declarations()
		if w.Before == nil || len(gained) > 0 {
			returned[w.Object] = w
		}
		if schedule.intended(w, returned[w.Object]) {
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

// declarations are the names that a write added and took away.
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
		if r.name == w.Object.Name && !r.at.After(w.Time) && !r.at.Before(returned.Time) {
			return true
		}
	}
	return false
}
