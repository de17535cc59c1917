package uicmd

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet/follow"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/console"
	"open-cluster-management.io/interlock/pkg/text"
)

// follow updates the console with each change of the hub, until the context ends. While the hub does not respond, the console shows that.
func (o *options) follow(ctx context.Context, viewed *console.Console, fleet *snapshot.Snapshot) {
	lists := follow.Lists(o.source.Cluster(), fleet) // the function below must not keep the first state in memory
	follow.Keeper{
		Start: func(ctx context.Context) (*follow.Hub, error) {
			hub, _, err := o.source.ConnectToWatch()
			if err != nil {
				return nil, err
			}
			return follow.Start(ctx, hub, lists, follow.Failures)
		},
		Take: func(ctx context.Context, hub client.Reader) (*snapshot.Snapshot, error) {
			return o.source.Retake(ctx, hub, o.source.Cluster())
		},
		Show:    func(state *snapshot.Snapshot) { viewed.Update(state, o.overview) },
		Trouble: func(reason error) { viewed.SetTrouble(text.OneLine(reason.Error())) },
	}.Run(ctx)
}
