package settings

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestBound(t *testing.T) {
	var bound Bound
	addOn, start := types.NamespacedName{Namespace: "c", Name: "a"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		reason string
		age    time.Duration
		until  time.Duration
		begins bool
	}{
		{"it is put back once", 0, 0, false},
		{"the second time within an hour, it is given up", 30 * time.Minute, 90 * time.Minute, true},
		{"it stays given up", 45 * time.Minute, 90 * time.Minute, false},
		{"after an hour, it is put back", 90 * time.Minute, 0, false},
		{"undone again, it is given up for two hours", 100 * time.Minute, 220 * time.Minute, true},
		{"it is put back again", 220 * time.Minute, 0, false},
		{"what has lasted for a day is not counted", 26 * time.Hour, 0, false},
	} {
		until, begins := bound.Undone(addOn, start.Add(step.age))
		want := time.Time{}
		if step.until > 0 {
			want = start.Add(step.until)
		}
		if !until.Equal(want) || begins != step.begins {
			t.Errorf("%s: until %s, begins %t", step.reason, until, begins)
		}
	}
	bound.Forget(addOn)
	if until, _ := bound.Undone(addOn, start.Add(27*time.Hour)); !until.IsZero() {
		t.Error("it is not forgotten")
	}
}
