package uicmd

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"open-cluster-management.io/interlock/pkg/cli/follow"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/console"
	"open-cluster-management.io/interlock/pkg/text"
)

// Times of updates. After an update, the next one begins as long as it took later at least, so that half of the time is left for other work,
// whatever the size of the fleet. Verdicts are only held, so the fleet is evaluated again without a change, too.
const (
	settle          = 50 * time.Millisecond
	refreshInterval = 30 * time.Second
)

// follow updates the console with each change of the hub, until the context ends. While the hub does not respond, the console shows that,
// and the watch starts again with growing intervals.
func (o *options) follow(ctx context.Context, viewed *console.Console, fleet *snapshot.Snapshot) error {
	retry := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 30 * time.Second}
	intervals := retry
	for {
		started := time.Now()
		failure := o.watch(ctx, viewed, fleet)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the user ends the verb
		}
		if err := viewed.SetTrouble(text.OneLine(failure.Error())); err != nil {
			return err
		}
		if time.Since(started) > time.Minute {
			intervals = retry
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(intervals.Step()):
		}
	}
}

// watch updates the console with each change of the hub, until the watch fails.
func (o *options) watch(ctx context.Context, viewed *console.Console, fleet *snapshot.Snapshot) error {
	hub, _, err := o.source.ConnectToWatch()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := follow.Start(ctx, hub, follow.Lists(o.source.Cluster(), fleet), follow.Failures)
	if err != nil {
		return err
	}
	watch.Placements, watch.Settle = true, settle
	for {
		started := time.Now()
		state, err := o.source.Retake(ctx, watch, o.source.Cluster())
		if err != nil {
			return err
		}
		if err := viewed.Update(state, o.overview(state)); err != nil {
			return err
		}
		pause := time.After(time.Since(started) - settle)
		if err := watch.NextWithin(ctx, refreshInterval); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause:
		}
	}
}
