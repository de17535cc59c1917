package installation

import (
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

// Removals remembers since when add-ons are not used where Interlock has installed them, and what was removed. It is not safe for
// concurrent use.
type Removals struct {
	// Delay is how long an add-on is kept where none uses it.
	Delay time.Duration

	history History
	// unused are the targets that are not used.
	unused map[Target]unused
	// planned: a plan was made. Before, marks of another leader count.
	planned bool
	// awaited are the targets whose marks of another leader still count: since the first plan, it is not known whether they are used.
	awaited sets.Set[Target]
}

// unused is since when a target is not used, whether it was read who it belongs to, and whether that is another writer.
type unused struct {
	since       time.Time
	read, taken bool
}

// RemovalPlan is what is to be removed now, and what waits.
type RemovalPlan struct {
	Plan
	// Kept are not used, but not for long enough yet. What belongs to another writer is not among them.
	Kept []Target
}

// Unread reports whether it has to be read who a target belongs to, before a plan is made with it: it was not used any more, or was
// another writer's for the whole delay.
func (r *Removals) Unread(target Target, now time.Time) bool {
	is := r.unused[target]
	return !is.read || is.taken && !is.since.Add(r.Delay).After(now)
}

// Read remembers whether a target that is not used belongs to another writer. It may be marked by the leader before: not used since a
// moment.
func (r *Removals) Read(target Target, taken bool, marked, now time.Time) {
	if r.unused == nil {
		r.unused = map[Target]unused{}
	}
	is := r.unused[target]
	switch {
	case taken:
		is.since = now
	case is.since.IsZero() && r.goesOn(target, marked, now):
		is.since = marked
	case is.since.IsZero():
		is.since = now
	}
	is.read, is.taken = true, taken
	r.unused[target] = is
}

// goesOn reports whether the delay goes on that the leader before has begun. What it has marked long ago, it would have removed, so no
// leader has watched since then.
func (r *Removals) goesOn(target Target, marked, now time.Time) bool {
	return (!r.planned || r.Awaits(target)) && !marked.IsZero() && !marked.After(now) && now.Sub(marked) < 2*r.Delay
}

// Await remembers, before each plan, of which targets it is not known yet whether they are used. A leader that has just started goes on
// from their marks once it knows. A target that is known once, and then not any more, begins anew.
func (r *Removals) Await(unknown []Target) {
	awaited := sets.New(unknown...)
	if r.planned {
		awaited = awaited.Intersection(r.awaited)
	}
	r.awaited = awaited
}

// Awaits reports whether the mark of a target still counts, because it is not known yet whether the target is used.
func (r *Removals) Awaits(target Target) bool { return r.awaited.Has(target) }

// Since is since when a target is not used; zero: it is used, may be, or belongs to another writer.
func (r *Removals) Since(target Target) time.Time {
	if is := r.unused[target]; !is.taken {
		return is.since
	}
	return time.Time{}
}

// Make plans what is removed at a moment, of all targets that are not used and not another writer's. What was used meanwhile, or may have been, is not among
// them, and is kept for the whole delay from then on.
func (r *Removals) Make(targets []Target, fleet Fleet, now time.Time) (plan RemovalPlan) {
	still := make(map[Target]unused, len(targets))
	var due []Target
	var next time.Time
	for _, target := range targets {
		is := r.unused[target]
		if is.since.IsZero() {
			is.since = now
		}
		still[target] = is
		at := is.since.Add(r.Delay)
		if !is.taken && !at.After(now) {
			due = append(due, target)
			continue
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
		if !is.taken {
			plan.Kept = append(plan.Kept, target)
		}
	}
	r.unused, r.history.Rest, r.planned = still, r.Delay, true
	r.history.Forget(now)
	plan.Plan = r.history.Make(due, fleet, now)
	if !next.IsZero() {
		plan.planAgain(next)
	}
	return plan
}

// Removed remembers that a target is being removed.
func (r *Removals) Removed(target Target, now time.Time) {
	r.history.Installed(target, now)
	delete(r.unused, target)
}

// Keep keeps a target for the whole delay from now on, and returns when that ends. Who it belongs to has to be read again.
func (r *Removals) Keep(target Target, now time.Time) time.Time {
	r.unused[target] = unused{since: now}
	return now.Add(r.Delay)
}
