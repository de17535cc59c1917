package degraded

import (
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// EventStuck is the reason of the event on an add-on that has waited for StuckAfter until a
// dependency is installed.
const EventStuck = "DependencyStuck"

// StuckAfter is how long OCM may take to install a dependency before an event says that it has not.
const StuckAfter = 15 * time.Minute

// stuck remembers which add-ons wait until a dependency is installed. It has no others.
type stuck struct {
	mutex  sync.Mutex
	addOns map[types.NamespacedName]waiting
}

// waiting is until when an add-on may wait, and whether that was reported.
type waiting struct {
	until    time.Time
	reported bool
}

// observe takes whether an add-on waits, and since when if that is new. It returns whether it is
// to be reported now, and else when it is; zero: never. A wait that is past its end when it
// is first observed was reported before addon-manager started.
func (s *stuck) observe(addOn types.NamespacedName, waits bool, since, now time.Time) (report bool, at time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	known, found := s.addOns[addOn]
	switch {
	case !waits:
		delete(s.addOns, addOn)
		return false, time.Time{}
	case !found:
		known.until = since.Add(StuckAfter)
		known.reported = !now.Before(known.until)
	case !known.reported && !now.Before(known.until):
		known.reported, report = true, true
	}
	if s.addOns == nil {
		s.addOns = map[types.NamespacedName]waiting{}
	}
	s.addOns[addOn] = known
	if known.reported {
		return report, time.Time{}
	}
	return false, known.until
}

func (s *stuck) forget(addOn types.NamespacedName) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.addOns, addOn)
}

// observeStuck emits the event on an add-on that has waited for too long, and returns when to
// evaluate it again for that; zero: never. changed is whether the condition is about to change.
func (r *Reconciler) observeStuck(
	addOn *addonv1alpha1.ManagedClusterAddOn, findings []evaluation.Finding, changed bool, now time.Time,
) (at time.Time) {
	since, stored := now, fleet.Degraded(addOn)
	if !changed && stored != nil {
		since = stored.LastTransitionTime.Time
	}
	report, at := r.stuck.observe(key(addOn), slices.ContainsFunc(findings, evaluation.Finding.Pending), since, now)
	if !report || stored == nil {
		return at
	}
	if r.EventLimiter != nil && !r.EventLimiter.TryAccept() {
		r.Metrics.EventLeftOut()
		return at
	}
	r.Recorder.Eventf(events.About(events.ManagedClusterAddOn, addOn), nil, corev1.EventTypeWarning, EventStuck, actionEvaluate, "%s",
		events.Note(fmt.Sprintf("Not installed within %d minutes: %s", int(StuckAfter.Minutes()), stored.Message)))
	return at
}
