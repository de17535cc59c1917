package follow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeeperTriesAgainWithGrowingIntervals tests a hub that does not respond.
func TestKeeperTriesAgainWithGrowingIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		away := errors.New("connection refused")
		var tries []time.Time
		Keeper{
			Start: func(context.Context) (*Hub, error) { return nil, away },
			Trouble: func(reason error) {
				if tries = append(tries, time.Now()); len(tries) == 8 {
					cancel()
				}
				if !errors.Is(reason, away) {
					t.Errorf("shows %v", reason)
				}
			},
		}.Run(ctx)
		for i := 1; i < len(tries); i++ {
			if interval := tries[i].Sub(tries[i-1]); interval < time.Second || interval > 37*time.Second {
				t.Errorf("try %d is after %s", i, interval)
			}
		}
		if total := tries[len(tries)-1].Sub(tries[0]); total < time.Minute {
			t.Errorf("%d tries in %s", len(tries), total)
		}
	})
}
