package installation

import "time"

// Removals remembers since when add-ons are not used where Interlock has installed them, and what was removed. It is not safe for
// concurrent use.
type Removals struct {
	// Delay is how long an add-on is kept where none uses it.
	Delay time.Duration

	history History
	// unused is since when targets are not used.
	unused map[Target]time.Time
}

// RemovalPlan is what is to be removed now, and what waits.
type RemovalPlan struct {
	Plan
	// Kept are not used, but not for long enough yet.
	Kept []Target
}

// Make plans what is removed at a moment, of all targets that are not used. What was used meanwhile, or may have been, is not among
// them, and is kept for the whole delay from then on.
func (r *Removals) Make(unused []Target, fleet Fleet, now time.Time) (plan RemovalPlan) {
	since := make(map[Target]time.Time, len(unused))
	var due []Target
	var next time.Time
	for _, target := range unused {
		from, known := r.unused[target]
		if !known {
			from = now
		}
		since[target] = from
		switch at := from.Add(r.Delay); {
		case !at.After(now):
			due = append(due, target)
		default:
			plan.Kept = append(plan.Kept, target)
			if next.IsZero() || at.Before(next) {
				next = at
			}
		}
	}
	r.unused, r.history.Rest = since, r.Delay
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

// Keep keeps a target for the whole delay from now on, and returns when that ends.
func (r *Removals) Keep(target Target, now time.Time) time.Time {
	r.unused[target] = now
	return now.Add(r.Delay)
}
