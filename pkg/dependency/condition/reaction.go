package condition

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Reaction is what a new status of Degraded reacts to.
type Reaction string

// The reactions.
const (
	ReactionNone Reaction = ""
	// ReactionNoticed: Available of a dependency is no longer True.
	ReactionNoticed Reaction = "noticed"
	// ReactionPropagated: a Required dependency of a dependency fails.
	ReactionPropagated Reaction = "propagated"
	// ReactionRecovered: all dependencies are satisfied again.
	ReactionRecovered Reaction = "recovered"
)

// maxReaction bounds how long a reaction takes. With an older transition of the
// dependency something else is new, such as a label of the cluster.
const maxReaction = time.Hour

// ends are the findings on one add-on, API or requirement each.
func ends(findings []evaluation.Finding) iter.Seq[*evaluation.Finding] {
	return func(yield func(*evaluation.Finding) bool) {
		for i := range findings {
			for end := range findings[i].Ends() {
				if !yield(end) {
					return
				}
			}
		}
	}
}

// ReactionTo returns to what Degraded, written now, reacts, and how long that took. There
// is none where the status stays, or where no condition of a dependency is newer than
// what is stored: another dependency is not installed, or the platform changed.
func ReactionTo(
	stored *metav1.Condition, desired metav1.Condition, findings []evaluation.Finding, on evaluation.AddOns, now time.Time,
) (Reaction, time.Duration) {
	was := metav1.ConditionFalse
	var after time.Time
	if stored != nil {
		was, after = stored.Status, stored.LastTransitionTime.Time
	}
	if was == desired.Status {
		return ReactionNone, 0
	}
	reaction, latest := ReactionNone, after
	consider := func(to Reaction, condition *metav1.Condition) {
		if condition != nil && !condition.LastTransitionTime.Time.Before(latest) { // in full seconds
			reaction, latest = to, condition.LastTransitionTime.Time
		}
	}
	for f := range ends(findings) {
		switch {
		case f.Dependency != nil && f.Dependency.Tolerate != "": // what was tolerated is no delay
		case f.Follows():
			consider(ReactionPropagated, f.Degraded)
			consider(ReactionPropagated, f.Available)
		case f.Unsatisfied():
			consider(ReactionNoticed, f.Available)
		case desired.Status == metav1.ConditionFalse && f.Dependency != nil:
			for _, one := range evaluation.Named(f.Dependency) {
				observed := on.Named(declaration.Target(one.Dependency))
				consider(ReactionRecovered, observed.Available)
				consider(ReactionRecovered, observed.Degraded)
			}
		}
	}
	took := now.Sub(latest)
	if reaction == ReactionNone || took > maxReaction {
		return ReactionNone, 0
	}
	return reaction, took
}
