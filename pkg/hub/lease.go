package hub

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"open-cluster-management.io/interlock/pkg/hub/unelected"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/leaseannotation"
	"open-cluster-management.io/interlock/pkg/names"
)

// showOnLease lets the leader show its flags on its lease. A process that runs the lifecycle without leader election acquires the lease
// too, because admission closes gates only where the lease names a component that opens them.
func showOnLease(mgr ctrl.Manager, options Options) error {
	show := func(ctx context.Context) { options.show(ctx, mgr.GetClient()) }
	if options.LeaderElection {
		return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			show(ctx)
			return nil
		}))
	}
	if !options.Lifecycle {
		return nil
	}
	holder, err := unelected.New(mgr.GetConfig(), options.lease(), show)
	if err != nil {
		return err
	}
	return mgr.Add(holder)
}

// show writes the annotations of the lease. It tries again until it succeeds.
func (o Options) show(ctx context.Context, hub client.Client) {
	retry := wait.Backoff{
		Duration: time.Second,
		Factor:   2,
		Steps:    1000,
		Cap:      controllers.RetryOnHub,
	}
	// The error is ignored: it only says that the context has ended.
	_ = retry.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := leaseannotation.SetFor(ctx, hub, o.lease(), o.shown)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Could not show --offline and --lifecycle on the lease of the leader; until then, the plugin assumes hold, and no gate is closed",
				"lease", o.lease())
		}
		return err == nil, nil
	})
}

// shown returns the annotations of the lease of a leader with these options.
func (o Options) shown(leader string) map[string]string {
	annotations := map[string]string{names.OfflinePolicy: string(o.Offline), names.LifecycleLeader: ""}
	if o.Lifecycle {
		annotations[names.LifecycleLeader] = leader
	}
	return annotations
}
