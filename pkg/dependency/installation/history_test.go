package installation

import (
	"testing"
	"time"
)

// Only what went while something that asks for it was there has been undone.
func TestWhatWentUnaskedIsNotUndone(t *testing.T) {
	target := Target{"cluster1", "base"}
	for _, test := range []struct {
		name string
		// asked is since when what asks for the target has been there, each time that it is missing; by how long ago that is.
		asked []time.Duration
		// installed is how many of these times it is installed. They are ten minutes apart, the last one is now.
		installed int
	}{
		{"always the same dependent", []time.Duration{time.Hour, time.Hour, time.Hour, time.Hour}, 2},
		{"each time a new one", []time.Duration{31 * time.Minute, 21 * time.Minute, 11 * time.Minute, time.Minute}, 4},
		{"a new one after it was undone once", []time.Duration{time.Hour, time.Hour, 11 * time.Minute, time.Minute}, 4},
		{"a new one after it was given up", []time.Duration{time.Hour, time.Hour, time.Hour, time.Minute}, 3},
		{"a new one, and the same again", []time.Duration{time.Hour, 21 * time.Minute, 21 * time.Minute, 21 * time.Minute}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			var history History
			installed := 0
			for i, ago := range test.asked {
				at := now.Add(-10 * time.Minute * time.Duration(len(test.asked)-1-i))
				history.Asked(target, now.Add(-ago))
				if plan := history.Make([]Target{target}, fleetOf(10, nil), at); len(plan.Now) == 1 {
					history.Installed(target, at)
					installed++
				}
				history.Forget(at)
				if since := history.AskedSince(target); !since.Equal(now.Add(-ago)) {
					t.Errorf("asked since %s", since)
				}
			}
			if installed != test.installed {
				t.Errorf("installed %d times, want %d", installed, test.installed)
			}
		})
	}
}

func TestWhatIsAskedForAndNotInstalledIsForgotten(t *testing.T) {
	var history History
	history.Asked(Target{"cluster1", "base"}, now)
	history.Forget(now)
	if len(history.tries) != 0 {
		t.Error("remembers for ever")
	}
}
