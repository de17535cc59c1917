// Package ownlease renews the agent's own lease. addon-agent is an add-on too, and
// OCM sets its Available from this lease. The lease is on the agent's cluster, but an
// agent that cannot reach the hub reports nothing. So it is renewed only while the hub
// responds.
package ownlease

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycoordinationv1 "k8s.io/client-go/applyconfigurations/coordination/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	// interval is the interval of all OCM add-ons: a fifth of the grace period.
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
	// Synced is closed once the agent has read the hub's add-ons.
	Synced <-chan struct{}
	// Hub reads without a cache the agent's ManagedClusterAddOn, which has the name
	// of the lease, in the namespace of Cluster.
	Hub     client.Reader
	Cluster string

	renewed atomic.Pointer[time.Time]
}

var errExpired = errors.New("the agent's own lease has expired: the hub does not respond, or the lease cannot be written; the log has the cause")

// Check is a readiness check. It fails if the lease was renewed before, but not within the grace period.
func (r *Renewer) Check(*http.Request) error {
	if last := r.renewed.Load(); last != nil && r.Clock.Since(*last) >= availability.DefaultGracePeriod {
		return errExpired
	}
	return nil
}

// Start implements manager.Runnable.
func (r *Renewer) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-r.Synced:
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
	if err := r.reachHub(ctx); err != nil {
		return fmt.Errorf("reach the hub: %w", err)
	}
	now := r.Clock.Now()
	lease := applycoordinationv1.Lease(r.Lease.Name, r.Lease.Namespace).WithSpec(applycoordinationv1.LeaseSpec().
		WithLeaseDurationSeconds(int32(interval.Seconds())).
		WithRenewTime(metav1.NewMicroTime(now)))
	if _, err := r.Leases.Leases(r.Lease.Namespace).Apply(ctx, lease, metav1.ApplyOptions{FieldManager: names.AddonAgent, Force: true}); err != nil {
		return err
	}
	r.renewed.Store(&now)
	return nil
}

// reachHub fails if the hub does not respond, or denies the agent a right that it needs. The API server responds from its cache.
func (r *Renewer) reachHub(ctx context.Context) error {
	key := types.NamespacedName{Namespace: r.Cluster, Name: r.Lease.Name}
	err := r.Hub.Get(ctx, key, &addonv1alpha1.ManagedClusterAddOn{}, &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}})
	return client.IgnoreNotFound(err)
}
