// Package heartbeat renews the agent's own lease: addon-agent is an add-on too,
// and is Available like one.
package heartbeat

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycoordinationv1 "k8s.io/client-go/applyconfigurations/coordination/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// fieldManager owns the lease's content.
const fieldManager = "interlock-addon-agent"

const (
	// interval is that of all OCM add-ons: a fifth of the grace period.
	interval = time.Minute
	// retry is after a failure: several of them fit into the grace period.
	retry = 10 * time.Second
	// answerTime bounds a request to an API server that may be gone.
	answerTime = 10 * time.Second
)

// Heartbeat renews one lease. It begins when the hub's add-ons have been read:
// an agent that may not read them does not report that it is well.
type Heartbeat struct {
	Clock  clock.Clock
	Leases coordinationv1client.LeasesGetter
	Lease  types.NamespacedName
	AddOns cache.Informers
}

// Start implements manager.Runnable.
func (h *Heartbeat) Start(ctx context.Context) error {
	informer, err := h.AddOns.GetInformer(ctx, &addonv1alpha1.ManagedClusterAddOn{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch add-ons: %w", err)
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil
	}
	for {
		pause := interval
		if err := h.beat(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Own lease could not be renewed; it is tried again", "lease", h.Lease.String(), "after", retry.String())
			pause = retry
		}
		select {
		case <-ctx.Done():
			return nil
		case <-h.Clock.After(pause):
		}
	}
}

func (h *Heartbeat) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	lease := applycoordinationv1.Lease(h.Lease.Name, h.Lease.Namespace).WithSpec(applycoordinationv1.LeaseSpec().
		WithLeaseDurationSeconds(int32(interval.Seconds())).
		WithRenewTime(metav1.NewMicroTime(h.Clock.Now())))
	_, err := h.Leases.Leases(h.Lease.Namespace).Apply(ctx, lease, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}
