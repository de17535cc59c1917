package condition

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Reaction is the kind of change that a new status of Degraded follows.
type Reaction string

// The reactions.
const (
	ReactionNone Reaction = ""
	// ReactionNoticed means that Available of a dependency is no longer True.
	ReactionNoticed Reaction = "noticed"
	// ReactionPropagated means that a Required dependency of a dependency fails.
	ReactionPropagated Reaction = "propagated"
	// ReactionRecovered means that all dependencies are satisfied again.
	ReactionRecovered Reaction = "recovered"
)

// maxReaction is the maximum duration of a reaction. If the transition of the dependency is older, another change came
// first, such as a label of the cluster.
const maxReaction = time.Hour

// ends yields the findings on single add-ons, APIs and requirements.
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

// ReactionTo returns the reaction of a Degraded that is written now, and its duration. There is no reaction if the status
// does not change, or if no condition of a dependency is newer than the stored condition. Then another dependency is not
// installed, or the platform changed.
func ReactionTo(
	stored *metav1.Condition, desired metav1.Condition, findings []evaluation.Finding, addOns evaluation.AddOns, now time.Time,
) (Reaction, time.Duration) {
	status := metav1.ConditionFalse
	var since time.Time
	if stored != nil {
		status, since = stored.Status, stored.LastTransitionTime.Time
	}
	if status == desired.Status {
		return ReactionNone, 0
	}
	reaction, latest := ReactionNone, since
	consider := func(kind Reaction, condition *metav1.Condition) {
		if condition != nil && !condition.LastTransitionTime.Time.Before(latest) { // in full seconds
			reaction, latest = kind, condition.LastTransitionTime.Time
		}
	}
	for f := range ends(findings) {
		switch {
		case f.Dependency != nil && f.Dependency.Tolerate != "": // a tolerated time is no delay
		case f.Follows():
			consider(ReactionPropagated, f.Degraded)
			consider(ReactionPropagated, f.Available)
		case f.Unsatisfied():
			consider(ReactionNoticed, f.Available)
		case desired.Status == metav1.ConditionFalse && f.Dependency != nil:
			for _, target := range evaluation.Named(f.Dependency) {
				observed := addOns.Named(declaration.Target(target.Dependency))
				consider(ReactionRecovered, observed.Available)
				consider(ReactionRecovered, observed.Degraded)
			}
		}
	}
	duration := now.Sub(latest)
	if reaction == ReactionNone || duration > maxReaction {
		return ReactionNone, 0
	}
	return reaction, duration
}
