package settings

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Settings that change their own inputs are written about 20 times in the first hour, and then six times an hour.
func TestSettingsThatNeverSettle(t *testing.T) {
	var (
		p     Pace
		key   = types.NamespacedName{Namespace: "cluster1", Name: "base"}
		now   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		began = now
		hours [3]int
	)
	for now.Sub(began) < 3*time.Hour {
		if until, pause := p.Wait(key, now); pause > 0 {
			if !until.After(now) {
				t.Fatalf("waits %s until %s, which has passed", pause, until)
			}
			now = until
			continue
		}
		p.Changed(key, now)
		hours[int(now.Sub(began).Hours())]++
		now = now.Add(time.Millisecond)
	}
	if hours[0] < 15 || hours[0] > 20 || hours[1] > 6 || hours[2] > 6 {
		t.Errorf("changes each hour: %v", hours)
	}
}

func TestPace(t *testing.T) {
	var p Pace
	key, second := types.NamespacedName{Namespace: "cluster1", Name: "base"}, types.NamespacedName{Namespace: "cluster2", Name: "base"}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range atOnce {
		if _, pause := p.Wait(key, now); pause != 0 {
			t.Fatalf("change %d waits %s", i+1, pause)
		}
		p.Changed(key, now)
	}
	if until, pause := p.Wait(key, now); pause != firstPause || !until.Equal(now.Add(firstPause)) {
		t.Errorf("waits %s until %s", pause, until)
	}
	if _, pause := p.Wait(second, now); pause != 0 {
		t.Error("another add-on waits")
	}
	now = now.Add(2*longestPause + time.Second)
	p.Changed(key, now)
	if _, pause := p.Wait(key, now); pause != 0 {
		t.Errorf("waits %s after a calm", pause)
	}
	for range atOnce {
		p.Changed(key, now)
	}
	p.Forget(key)
	if _, pause := p.Wait(key, now); pause != 0 {
		t.Error("waits although it was forgotten")
	}
}
