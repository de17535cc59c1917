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
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// guardedAgain is the delay before an add-on is checked again after Degraded was written for
// the guard. A webhook may not have responded to that write.
const guardedAgain = time.Minute

// Guarded records whether the guard is in force, and enqueues the add-ons whose Available it
// has not corrected yet.
//
// The guard corrects an add-on only when it is written. An Available from before the guard came
// into force would contradict a failing Required dependency. OCM's agents do not write an
// unchanged Available again, and addon-agent may not run on the cluster. So addon-manager
// writes the unchanged Degraded again, and the guard corrects Available.
type Guarded struct {
	Fleet    hubcache.Reader
	Evaluate *trigger.Trigger

	inForce atomic.Bool
}

// Observe records whether the guard is in force. It is called after each change.
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

// missed reports whether the guard is in force and would correct Available with the next
// write.
func (g *Guarded) missed(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return g != nil && g.inForce.Load() && !availability.LeftByGuard(fleet.Available(addOn), fleet.Degraded(addOn))
}
