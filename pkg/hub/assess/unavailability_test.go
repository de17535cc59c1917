package assess

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

var (
	leaf  = types.NamespacedName{Namespace: "cluster1", Name: "leaf"}
	aTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
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
			l := unavailabilities{clock: clock}
			var got evaluation.Lapse
			for _, step := range tc.steps {
				switch step {
				case "created":
					l.observeCreation(leaf)
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
