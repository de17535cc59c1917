package follow

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Times of updates. After an update, the next one begins as long as it took later at least, so that half of the time is left for other work,
// whatever the size of the fleet. Verdicts are only held, so the fleet is evaluated again without a change, too.
const (
	promptSettle = 20 * time.Millisecond
	// RefreshInterval is the longest time between two updates of a Keeper.
	RefreshInterval = 30 * time.Second
)

// Keeper updates a view of the hub with each change.
type Keeper struct {
	// Start begins to watch the hub.
	Start func(ctx context.Context) (*Hub, error)
	// Take reads the fleet from a hub that is watched.
	Take func(ctx context.Context, hub client.Reader) (*snapshot.Snapshot, error)
	// Show shows a state of the fleet.
	Show func(fleet *snapshot.Snapshot)
	// Trouble shows why the last state is not current.
	Trouble func(reason error)
}

// Run updates the view until the context ends. While the hub does not respond, it shows that, and the watch starts again with growing
// intervals.
func (k Keeper) Run(ctx context.Context) {
	retry := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 30 * time.Second}
	intervals := retry
	for {
		started := time.Now()
		failure := k.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		k.Trouble(failure)
		if time.Since(started) > time.Minute {
			intervals = retry
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(intervals.Step()):
		}
	}
}

// watch updates the view until the watch fails.
func (k Keeper) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hub, err := k.Start(ctx)
	if err != nil {
		return err
	}
	hub.Placements, hub.Settle = true, promptSettle
	for {
		started := time.Now()
		fleet, err := k.Take(ctx, hub)
		if err != nil {
			return err
		}
		k.Show(fleet)
		pause := time.After(time.Since(started) - promptSettle)
		if err := hub.NextWithin(ctx, RefreshInterval); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause:
		}
	}
}
