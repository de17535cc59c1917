package why

import (
	"context"
	"io"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/follow"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// refreshInterval is the longest time between two pages on a screen: verdicts are only held, and ages grow.
const refreshInterval = 30 * time.Second

// runWatch shows the causes, and shows them again with each change, until the context ends.
func (o *options) runWatch(ctx context.Context) error {
	first, err := o.read(ctx)
	if err != nil {
		return err
	}
	hub, host, err := o.source.ConnectToWatch()
	if err != nil {
		return err
	}
	if err := o.follow(ctx, hub, first); err != nil && ctx.Err() == nil {
		return source.HubError(err, host)
	}
	return nil
}

// follow shows the causes of each state. It also returns an error when the context ends.
func (o *options) follow(ctx context.Context, hub client.WithWatch, fleet *snapshot.Snapshot) error {
	page := terminal.NewRefresher(o.Out)
	if err := o.show(page, fleet); err != nil { //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		return err
	}
	watch, err := follow.Start(ctx, hub, follow.Lists(o.filter.Cluster, fleet), follow.Failures)
	if err != nil {
		return err
	}
	watch.Placements = true
	for {
		if err := watch.NextWithin(ctx, refreshInterval); err != nil {
			return err
		}
		state, err := o.source.Retake(ctx, watch, o.filter.Cluster)
		if err != nil {
			return err
		}
		if err := o.show(page, state); err != nil { //nolint:contextcheck // a snapshot reads nothing that can be interrupted
			return err
		}
	}
}

// show shows the causes of a state.
func (o *options) show(page *terminal.Refresher, fleet *snapshot.Snapshot) error {
	causes := report.FindRootCauses(fleet, o.filter)
	content := *causes
	content.Taken = time.Time{}
	return page.Show(content, fleet.Taken, func(out io.Writer) error { return o.print(out, fleet, causes) })
}
