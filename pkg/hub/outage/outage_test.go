package outage

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

const (
	up   = metav1.ConditionTrue
	lost = metav1.ConditionUnknown
)

var (
	started = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	base    = types.NamespacedName{Namespace: "cluster1", Name: "base"}
)

func newTracker() (*Tracker, *clocktesting.FakePassiveClock) {
	clock := clocktesting.NewFakePassiveClock(started)
	tracker := New(clock)
	tracker.Observe("another", up)
	return tracker, clock
}

func TestObserve(t *testing.T) {
	type step struct {
		elapsed time.Duration // since the start
		status  metav1.ConditionStatus
		want    time.Duration // since the start, or -1 for the zero time
	}
	for name, steps := range map[string][]step{
		"NeverLost":            {{0, up, 0}, {time.Hour, up, 0}},
		"LostAndBack":          {{time.Minute, lost, -1}, {time.Hour, up, time.Hour}, {time.Hour + 1, up, time.Hour}},
		"LostFromTheFirst":     {{0, lost, -1}, {0, lost, -1}, {time.Hour, up, time.Hour}},
		"BackWithoutBeingWell": {{0, lost, -1}, {time.Hour, metav1.ConditionFalse, time.Hour}, {2 * time.Hour, up, time.Hour}},
		"Again":                {{0, lost, -1}, {time.Hour, up, time.Hour}, {2 * time.Hour, lost, -1}, {3 * time.Hour, up, 3 * time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			tracker, clock := newTracker()
			for i, step := range steps {
				clock.SetTime(started.Add(step.elapsed))
				want := started.Add(step.want)
				if step.want < 0 {
					want = time.Time{}
				}
				if got := tracker.Observe("cluster1", step.status); !got.Equal(want) {
					t.Errorf("step %d: back since %s, want %s", i, got, want)
				}
			}
		})
	}
}

func TestFound(t *testing.T) {
	for name, test := range map[string]struct {
		between func(*Tracker)
		anew    bool
	}{
		"Again":             {func(*Tracker) {}, false},
		"TheClusterIsUp":    {func(tracker *Tracker) { tracker.Observe("cluster1", up) }, false},
		"AnotherReported":   {func(tracker *Tracker) { tracker.Reported(types.NamespacedName{Namespace: "cluster1", Name: "other"}) }, false},
		"ItReported":        {func(tracker *Tracker) { tracker.Reported(base) }, true},
		"TheClusterIsLost":  {func(tracker *Tracker) { tracker.Observe("cluster1", lost) }, true},
		"TheClusterIsGone":  {func(tracker *Tracker) { tracker.Forget("cluster1") }, true},
		"AnotherOneIsLost":  {func(tracker *Tracker) { tracker.Observe("cluster2", lost) }, false},
		"ItReportedUnasked": {func(tracker *Tracker) { tracker.Reported(types.NamespacedName{Namespace: "cluster2", Name: "base"}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			tracker, clock := newTracker()
			tracker.FirstSeen(base)
			clock.SetTime(started.Add(time.Hour))
			test.between(tracker)
			want := started
			if test.anew {
				want = started.Add(time.Hour)
			}
			if got := tracker.FirstSeen(base); !got.Equal(want) {
				t.Errorf("found at %s, want %s", got, want)
			}
		})
	}
}

func TestKeepsNothingOfAFleetThatIsWell(t *testing.T) {
	tracker, clock := newTracker()
	tracker.FirstSeen(base)
	tracker.Reported(base)
	tracker.Observe("cluster1", lost)
	tracker.Observe("cluster1", up)
	tracker.Observe("cluster2", up)
	clock.SetTime(started.Add(evaluation.SettleTime))
	tracker.Observe("cluster1", up)
	if len(tracker.clusters) != 0 {
		t.Errorf("remembers %v", tracker.clusters)
	}
}
