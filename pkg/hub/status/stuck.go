package status

import (
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/outcome"
	"open-cluster-management.io/interlock/pkg/events"
)

// EventStuck is the reason of the event on an add-on that has waited for StuckAfter until a
// dependency is installed, or behind its gate until one is satisfied.
const EventStuck = "DependencyStuck"

// StuckAfter is how long OCM may take to install a dependency before an event says that it has not.
const StuckAfter = 15 * time.Minute

// stuck remembers which add-ons wait until a dependency is installed, and for which. It has no
// others.
type stuckTracker struct {
	mutex  sync.Mutex
	addOns map[types.NamespacedName]map[string]pendingWait
}

// waiting is until when an add-on may wait for a dependency, and whether that was reported.
type pendingWait struct {
	until    time.Time
	reported bool
}

// observe takes for which dependencies an add-on waits, and since when it does if it was not known
// to wait. It returns those to be reported now, and when the next one is; zero: never. A wait
// that is past its end when it is first observed was reported before addon-manager started.
// What was known of a dependency that is held stays.
func (s *stuckTracker) observe(addOn types.NamespacedName, waits, held []string, since, now time.Time) (report []string, next time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(waits)+len(held) == 0 { // the usual case
		delete(s.addOns, addOn)
		return nil, time.Time{}
	}
	previous, current := s.addOns[addOn], make(map[string]pendingWait, len(waits))
	for _, dependency := range held {
		if w, ok := previous[dependency]; ok {
			current[dependency] = w
		}
	}
	if len(previous) > 0 {
		since = now
	}
	for _, dependency := range waits {
		w, ok := previous[dependency]
		switch {
		case !ok:
			w.until = since.Add(StuckAfter)
			w.reported = !now.Before(w.until)
		case !w.reported && !now.Before(w.until):
			w.reported = true
			report = append(report, dependency)
		}
		if !w.reported {
			next = controllers.Sooner(next, w.until)
		}
		current[dependency] = w
	}
	if len(current) == 0 {
		delete(s.addOns, addOn)
		return nil, time.Time{}
	}
	if s.addOns == nil {
		s.addOns = map[types.NamespacedName]map[string]pendingWait{}
	}
	s.addOns[addOn] = current
	return report, next
}

func (s *stuckTracker) forget(addOn types.NamespacedName) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.addOns, addOn)
}

// observeStuck emits the event on an add-on that has waited for too long, and returns when to
// evaluate it again for that; zero: never.
func (r *Reconciler) observeStuck(subject *assessedAddOn, decision outcome.Decision) (next time.Time) {
	var waits, held []string
	findings, obstacle := subject.assessment.Awaited(), obstacleOf(subject.stored)
	for _, finding := range findings {
		switch {
		case finding.Pending(), obstacle != "" && finding.Blocks() && finding.Unsatisfied():
			waits = append(waits, finding.Name())
		case finding.Held():
			held = append(held, finding.Name())
		}
	}
	report, next := r.stuck.observe(subject.key, waits, held, waitsSince(subject, decision), subject.assessedAt)
	if len(report) == 0 {
		return next
	}
	if r.EventLimiter != nil && !r.EventLimiter.TryAccept() {
		r.Metrics.EventLeftOut()
		return next
	}
	pending := slices.DeleteFunc(slices.Clone(findings), func(f evaluation.Finding) bool { return !slices.Contains(report, f.Name()) })
	waited := "Not installed within"
	if obstacle != "" {
		waited = obstacle + ", because these were not satisfied within"
	}
	note := fmt.Sprintf("%s %d minutes: %s", waited, int(StuckAfter.Minutes()), condition.Message(pending, condition.MaxMessage))
	r.Recorder.Eventf(events.About(events.ManagedClusterAddOn, subject.addOn), nil,
		corev1.EventTypeWarning, EventStuck, actionEvaluate, "%s", events.Note(note))
	return next
}

// waitsBehind says what keeps an add-on, or its other AddOnTemplate, from being installed; empty: nothing.
func obstacleOf(stored outcome.Stored) string {
	switch {
	case stored.GateClosed:
		return "Its gate is closed"
	case stored.Waiting != "":
		return "AddOnTemplate '" + stored.Waiting + "' waits"
	}
	return ""
}

// waitsSince is since when an add-on waits, if that was not observed: by the condition of what it waits behind, or else by Degraded.
func waitsSince(subject *assessedAddOn, decision outcome.Decision) time.Time {
	for _, c := range []*metav1.Condition{subject.stored.Installable, subject.stored.Upgradable} {
		if obstacleOf(subject.stored) != "" && gate.Waits(c) {
			return c.LastTransitionTime.Time
		}
	}
	changes := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionDegraded) != nil
	return condition.WaitsSince(subject.stored.Degraded, changes, subject.assessedAt)
}
