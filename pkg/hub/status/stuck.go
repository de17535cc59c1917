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
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// EventStuck is the reason of the event on an add-on that has waited for StuckAfter. It waits for
// the installation of a dependency, or behind its gate for a dependency to be satisfied.
const EventStuck = "DependencyStuck"

// StuckAfter is the time that OCM may take to install a dependency before an event is emitted.
const StuckAfter = 15 * time.Minute

// stuckTracker has the add-ons that wait for the installation of dependencies, with the names of
// these dependencies.
type stuckTracker struct {
	mutex  sync.Mutex
	addOns map[types.NamespacedName]map[string]pendingWait
}

// pendingWait is the wait of an add-on for a dependency.
type pendingWait struct {
	// until is the time when the wait is reported.
	until    time.Time
	reported bool
}

// observe records the dependencies that an add-on waits for. since is the beginning of the wait for
// an add-on that was not waiting before. It returns the dependencies to report now, and the time of
// the next report, or zero. A wait that is overdue when it is first observed was reported before
// addon-manager started. A dependency whose verdict is held keeps its wait.
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

// observeStuck emits an event on an add-on that has waited for too long. It returns the time of the
// next evaluation for that purpose, or zero.
func (r *Reconciler) observeStuck(subject *assessedAddOn, decision outcome.Decision) time.Time {
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

// obstacleOf returns the reason, for a message, why an add-on or its other AddOnTemplate is not installed. It is empty if there is none.
func obstacleOf(stored outcome.Stored) string {
	switch {
	case stored.GateClosed:
		return "Its gate is closed"
	case stored.Waiting != "":
		return "AddOnTemplate '" + stored.Waiting + "' waits"
	}
	return ""
}

// waitsSince returns the time since when an add-on waits if its beginning was not observed. It comes from Installable or Upgradable, or
// else from Degraded.
func waitsSince(subject *assessedAddOn, decision outcome.Decision) time.Time {
	for _, c := range []*metav1.Condition{subject.stored.Installable, subject.stored.Upgradable} {
		if obstacleOf(subject.stored) != "" && gate.Waits(c) {
			return c.LastTransitionTime.Time
		}
	}
	changes := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionDegraded) != nil
	return condition.WaitsSince(subject.stored.Degraded, changes, subject.assessedAt)
}
