// Package ownlease renews the agent's own lease. addon-agent is an add-on too, and
// OCM sets its Available from this lease.
package ownlease

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
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	// interval is that of all OCM add-ons: a fifth of the grace period.
	interval = time.Minute
	// retryInterval follows a failure, so that many retries fit into the grace period.
	retryInterval = 10 * time.Second
	// requestTimeout bounds a request to an API server that may be down.
	requestTimeout = 10 * time.Second
)

// Renewer renews one lease. It begins when the agent has read the hub's add-ons: an
// agent that cannot read them is not available.
type Renewer struct {
	Clock  clock.Clock
	Leases coordinationv1client.LeasesGetter
	Lease  types.NamespacedName
	AddOns cache.Informers
}

// Start implements manager.Runnable.
func (r *Renewer) Start(ctx context.Context) error {
	informer, err := r.AddOns.GetInformer(ctx, &addonv1alpha1.ManagedClusterAddOn{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch add-ons: %w", err)
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil
	}
	for {
		wait := interval
		if err := r.renew(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Could not renew the agent's own lease; retrying", "lease", r.Lease.String(), "after", retryInterval.String())
			wait = retryInterval
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.Clock.After(wait):
		}
	}
}

func (r *Renewer) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	lease := applycoordinationv1.Lease(r.Lease.Name, r.Lease.Namespace).WithSpec(applycoordinationv1.LeaseSpec().
		WithLeaseDurationSeconds(int32(interval.Seconds())).
		WithRenewTime(metav1.NewMicroTime(r.Clock.Now())))
	_, err := r.Leases.Leases(r.Lease.Namespace).Apply(ctx, lease, metav1.ApplyOptions{FieldManager: names.AddonAgent, Force: true})
	return err
}
