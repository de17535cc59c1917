package degraded

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Each step takes a minute.
func TestLapses(t *testing.T) {
	for name, tc := range map[string]struct {
		steps []string
		want  evaluation.Lapse
	}{
		"Works":         {[]string{"up"}, evaluation.Lapse{}},
		"BecameDown":    {[]string{"up", "down", "down"}, evaluation.Lapse{Since: aTime.Add(time.Minute)}},
		"AtTheStart":    {[]string{"down", "down"}, evaluation.Lapse{Since: aTime, Unwitnessed: true}},
		"New":           {[]string{"created", "down"}, evaluation.Lapse{}},
		"NewThenUp":     {[]string{"created", "down", "up", "down"}, evaluation.Lapse{Since: aTime.Add(3 * time.Minute)}},
		"SeenBeforeNew": {[]string{"down", "created", "down"}, evaluation.Lapse{}},
		"UpBeforeNew":   {[]string{"up", "created", "down"}, evaluation.Lapse{Since: aTime.Add(2 * time.Minute)}},
		"Twice":         {[]string{"up", "down", "up", "down"}, evaluation.Lapse{Since: aTime.Add(3 * time.Minute)}},
		"Recovered":     {[]string{"up", "down", "up"}, evaluation.Lapse{}},
		"Replaced":      {[]string{"up", "down", "forgotten", "created", "down"}, evaluation.Lapse{}},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(aTime)
			l := lapses{clock: clock}
			var got evaluation.Lapse
			for _, step := range tc.steps {
				switch step {
				case "created":
					l.created(leaf)
				case "forgotten":
					l.forget(leaf)
				default:
					got = l.observe(leaf, step == "up")
				}
				clock.Step(time.Minute)
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// The hub's clock counts, not that of the managed cluster; the add-on comes again at the
// exact moment, and nothing is written before.
func TestToleratedToTheMoment(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"right": 0, "an hour slow": -time.Hour, "a day fast": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, addOn("leaf"), baseIs(metav1.ConditionTrue, "Running", aTime))
			registered := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}}
			registered.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "base", Tolerate: "2m"}}
			b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registered})))
			m := mapping{declarations: b.Declarations, fleet: b.Fleet, memory: b.Memory, forget: b.Backoff.Forget}
			if result, err := b.reconcile(t); err != nil || !result.IsZero() || b.applies > 0 {
				t.Fatalf("%v, %v, %d writes", result, err, b.applies)
			}
			b.store(t, m, baseIs(metav1.ConditionFalse, "Stopped", b.clock.Now().Add(ahead)))
			b.expectHeld(t, "stopped", 2*time.Minute)
			b.clock.Step(90 * time.Second)
			b.expectHeld(t, "for a while", 30*time.Second)
			b.clock.Step(30 * time.Second)
			b.expectHeld(t, "for two minutes", 0)
		})
	}
}
