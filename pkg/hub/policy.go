package hub

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/leaseannotation"
	"open-cluster-management.io/interlock/pkg/names"
)

// showPolicy lets the leader show on its lease what becomes of verdicts on clusters that
// are lost: the plugin evaluates by it. Without leader election there is no lease.
func showPolicy(mgr ctrl.Manager, options Options) error {
	if !options.LeaderElection {
		return nil
	}
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		retry := wait.Backoff{Duration: time.Second, Factor: 2, Steps: 1000, Cap: controllers.RetryOnHub}
		// The only other end is that of the context.
		_ = retry.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
			err := leaseannotation.Set(ctx, mgr.GetClient(), options.lease(), names.OfflinePolicy, string(options.Offline))
			if err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "Could not show --offline on the lease of the leader; the plugin assumes hold until then",
					"lease", options.lease(), "annotation", names.OfflinePolicy)
			}
			return err == nil, nil
		})
		return nil
	}))
}
