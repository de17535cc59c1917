package status

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// One event reports that a dependency was not installed within StuckAfter. A restart does not repeat
// it.
func TestStuckIsReportedOnce(t *testing.T) {
	const minute = time.Minute
	type step struct {
		elapsed     time.Duration
		waits       bool
		since       time.Duration
		report      bool
		againAt     time.Duration // 0 if there is none
		description string
	}
	for name, steps := range map[string][]step{
		"Once": {
			{0, true, 0, false, 15 * minute, "it begins to wait"},
			{5 * minute, true, 5 * minute, false, 15 * minute, "for something else too: since when it waits stays"},
			{15 * minute, true, 0, true, 0, "too long"},
			{20 * minute, true, 0, false, 0, "once"},
			{21 * minute, false, 0, false, 0, "installed"},
			{30 * minute, true, 30 * minute, false, 45 * minute, "another wait"},
			{45 * minute, true, 0, true, 0, "too long again"},
		},
		"InTime":           {{0, true, 0, false, 15 * minute, ""}, {14 * minute, false, 0, false, 0, ""}, {16 * minute, false, 0, false, 0, ""}},
		"Restarted":        {{40 * minute, true, 0, false, 0, "it was reported before"}, {60 * minute, true, 0, false, 0, ""}},
		"RestartedBetween": {{10 * minute, true, 0, false, 15 * minute, ""}, {15 * minute, true, 0, true, 0, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var s stuckTracker
			for _, step := range steps {
				var want time.Time
				if step.againAt > 0 {
					want = aTime.Add(step.againAt)
				}
				var waits []string
				if step.waits {
					waits = []string{"base"}
				}
				reported, next := s.observe(leaf, waits, nil, aTime.Add(step.since), aTime.Add(step.elapsed))
				if report := len(reported) > 0; report != step.report || !next.Equal(want) {
					t.Errorf("after %s (%s): report %t, again at %s, want %t, %s", step.elapsed, step.description, report, next, step.report, want)
				}
			}
		})
	}
	var s stuckTracker
	dependencies := []string{"a", "b"}
	s.observe(leaf, dependencies[:1], nil, aTime, aTime)
	report, next := s.observe(leaf, dependencies, nil, aTime.Add(StuckAfter), aTime.Add(StuckAfter))
	if !slices.Equal(report, dependencies[:1]) || !next.Equal(aTime.Add(2*StuckAfter)) {
		t.Errorf("each dependency has a time of its own: %q, again at %s", report, next)
	}
	if report, _ := s.observe(leaf, nil, dependencies, aTime, aTime.Add(2*StuckAfter)); len(report) > 0 {
		t.Errorf("held, and reported: %q", report)
	}
	if report, _ := s.observe(leaf, dependencies, nil, aTime, aTime.Add(2*StuckAfter)); !slices.Equal(report, dependencies[1:]) {
		t.Errorf("after it was held: %q", report)
	}
	s.forget(leaf)
	later := aTime.Add(time.Hour)
	if _, next := s.observe(leaf, dependencies[:1], nil, later, later); !next.Equal(later.Add(StuckAfter)) {
		t.Errorf("one that was deleted is still remembered: again at %s", next)
	}
}

func TestADependencyThatIsNotInstalledIsReported(t *testing.T) {
	const reason = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	stored := conditionOf(addonv1alpha1.ManagedClusterAddOnConditionDegraded, metav1.ConditionTrue, reason)
	stored.Message = "Required addon 'base' is not installed or not available. (not installed: it has no ClusterManagementAddOn on this hub)"
	b := newBench(t, addOn(leaf.Name, stored))
	reconcile := func() time.Duration {
		result, err := b.reconcile(t)
		if err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter
	}
	if delay := reconcile(); delay != StuckAfter {
		t.Fatalf("evaluated again after %s", delay)
	}
	b.clock.Step(StuckAfter)
	if delay := reconcile(); delay != 0 {
		t.Errorf("evaluated again after %s", delay)
	}
	if got := b.emitted(); !slices.Equal(got, []string{"Warning DependencyStuck Not installed within 15 minutes: " + stored.Message}) {
		t.Errorf("events %q", got)
	}
	b.clock.Step(StuckAfter)
	if reconcile(); len(b.emitted()) > 0 || b.applies > 0 {
		t.Error("it is reported again, or written")
	}

	b = newBench(t, addOn(leaf.Name, stored))
	b.EventLimiter = flowcontrol.NewFakeNeverRateLimiter()
	reconcile()
	b.clock.Step(StuckAfter)
	if reconcile(); len(b.emitted()) > 0 {
		t.Error("an event is emitted beyond the limit")
	}
}

// Behind a gate, an installed but unavailable dependency is reported too.
func TestAGatedAddOnThatWaitsIsReported(t *testing.T) {
	const reason = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	for name, test := range map[string]struct {
		gate   string
		events int
	}{
		"closed": {addonv1alpha1.GateClosed, 1},
		"open":   {addonv1alpha1.GateOpen, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stored := conditionOf(addonv1alpha1.ManagedClusterAddOnConditionDegraded, metav1.ConditionTrue, reason)
			stored.Message = "Required addon 'base' is not installed or not available. (Available=False, Down, since 2026-01-02T03:04:05Z)"
			gated := addOn(leaf.Name, stored)
			gated.Annotations = map[string]string{addonv1alpha1.GateAnnotation: test.gate}
			b := newBench(t, gated, addOn("base", conditionOf(addonv1alpha1.ManagedClusterAddOnConditionAvailable, metav1.ConditionFalse, "Down")))
			for range 2 {
				if _, err := b.reconcile(t); err != nil {
					t.Fatal(err)
				}
				b.clock.Step(StuckAfter)
			}
			got := b.emitted()
			if len(got) != test.events {
				t.Fatalf("events %q", got)
			}
			const want = "Warning DependencyStuck Its gate is closed, because these were not satisfied within 15 minutes: Required addon 'base'"
			if test.events > 0 && !strings.HasPrefix(got[0], want) {
				t.Errorf("event %q", got[0])
			}
		})
	}
}

// The dependencies of an AddOnTemplate that waits are reported, although it does not run.
func TestStuckTemplateIsReported(t *testing.T) {
	for name, test := range map[string]struct {
		gate      string
		condition metav1.Condition
		runs      bool
		want      string // part of the events
	}{
		"behind a gate": {
			addonv1alpha1.GateClosed, conditionOf("Installable", metav1.ConditionFalse, gate.ReasonWaiting), false,
			"Warning DependencyStuck Its gate is closed, because these were not satisfied within 15 minutes: Required addon 'base'",
		},
		"another template": {
			"", conditionOf("Upgradable", metav1.ConditionFalse, gate.ReasonWaiting), true,
			"Warning DependencyStuck AddOnTemplate 'v2' waits, because these were not satisfied within 15 minutes: Required addon 'base'",
		},
		"open": {"", conditionOf("Upgradable", metav1.ConditionTrue, gate.ReasonSatisfied), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.condition.LastTransitionTime = metav1.NewTime(aTime)
			leafAddOn := fleet.WithRollout(addOn(leaf.Name, test.condition), "v2")
			if test.runs {
				leafAddOn = fleet.WithTemplate(addOn(leaf.Name, test.condition), "v1")
			}
			*leafAddOn = fixture.Holds("v2", *leafAddOn)
			if test.gate != "" {
				leafAddOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: test.gate}
			}
			v2 := fixture.Template(leaf.Name, "v2", "[{name: base}]")
			b := newBench(t, leafAddOn, &v2)
			b.Assessor.Acts = true
			b.lazy.templatesRead = true
			registration := fixture.Deployed(fixture.Specified(t, leaf.Name, "{ordering: InstallAndUpgrade}"))
			b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registration}, v2)))
			for range 3 {
				if _, err := b.reconcile(t); err != nil {
					t.Fatal(err)
				}
				b.clock.Step(StuckAfter)
			}
			if got := strings.Join(b.emitted(), "; "); !strings.Contains(got, test.want) ||
				test.want == "" && strings.Contains(got, EventStuck) || strings.Count(got, EventStuck) > 1 {
				t.Errorf("events %q", got)
			}
		})
	}
}
