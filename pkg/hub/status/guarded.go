package status

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// guardedAgain is when an add-on is looked at again after Degraded was written for
// the guard. A webhook may not have responded to that write.
const guardedAgain = time.Minute

// Guarded knows whether the hub acts on the guard, and enqueues the add-ons that
// the guard has not seen.
//
// The guard changes only what is written. An Available that was written before it
// came into force would stay beside a failing Required dependency: OCM's agents
// write nothing where they find what they want, and addon-agent may not run there.
// So Degraded is written once more as it is, and the guard corrects Available.
type Guarded struct {
	Fleet    hubcache.Reader
	Evaluate *trigger.Trigger

	inForce atomic.Bool
}

// Observe records whether the hub acts on the guard. It is called when that changes.
func (g *Guarded) Observe(ctx context.Context, inForce bool) error {
	g.inForce.Store(inForce)
	if !inForce {
		return nil
	}
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := g.Fleet.List(ctx, &list); err != nil {
		return fmt.Errorf("list the add-ons to guard: %w", err)
	}
	for i := range list.Items {
		if g.missed(&list.Items[i]) {
			g.Evaluate.Enqueue(client.ObjectKeyFromObject(&list.Items[i]))
		}
	}
	return nil
}

// missed reports whether the guard, which is in force, would correct Available with
// the next write.
func (g *Guarded) missed(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return g != nil && g.inForce.Load() && !availability.LeftByGuard(fleet.Available(addOn), fleet.Degraded(addOn))
}
