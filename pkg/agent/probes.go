package agent

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"open-cluster-management.io/interlock/pkg/agent/ownlease"
	"open-cluster-management.io/interlock/pkg/kube/warmup"
)

// setupProbes adds the health and readiness checks. addon-agent is alive while the process responds, even if it has lost the hub,
// because a restart would only lose the cache. It is ready once the cache of the hub's add-ons has synced, until its own lease
// expires. OCM sets Available of an add-on from an AddOnTemplate by its ready pods, not by its lease. ownLease may be nil.
func setupProbes(mgr ctrl.Manager, warm *warmup.Warmup, ownLease *ownlease.Renewer) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("cache", warm.Check); err != nil {
		return fmt.Errorf("add readiness probe: %w", err)
	}
	if ownLease == nil {
		return nil
	}
	if err := mgr.AddReadyzCheck("own-lease", ownLease.Check); err != nil {
		return fmt.Errorf("add readiness probe: %w", err)
	}
	return nil
}
