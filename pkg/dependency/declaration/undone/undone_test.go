package undone

import (
	"testing"
	"time"
)

func TestPause(t *testing.T) {
	for times, want := range map[int]time.Duration{
		0: 0, 1: 0, 2: time.Hour, 3: 2 * time.Hour, 4: 4 * time.Hour, 6: 16 * time.Hour,
		7: Longest, 8: Longest, 1_000_000: Longest,
	} {
		if got := Pause(times); got != want {
			t.Errorf("undone %d times: given up for %s, want %s", times, got, want)
		}
	}
}
