package availability

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// The reasons of Available that follow from a lease. They are OCM's own.
const (
	ReasonLeaseUpdated  = ocmv1alpha1.AddonAvailableReasonLeaseLeaseUpdated
	ReasonLeaseStopped  = ocmv1alpha1.AddonAvailableReasonLeaseUpdateStopped
	ReasonLeaseNotFound = ocmv1alpha1.AddonAvailableReasonLeaseLeaseNotFound
)

// LeaseState is what is known of a lease.
type LeaseState int

const (
	// LeaseUnobserved means that the API server has not responded yet.
	LeaseUnobserved LeaseState = iota
	// LeaseNotFound means that there is no lease.
	LeaseNotFound
	// LeaseFound means that there is a lease.
	LeaseFound
)

// Lease is what is known of an add-on's lease.
type Lease struct {
	State LeaseState
	// RenewTime is when the add-on last renewed it; nil if it never did.
	RenewTime *time.Time
}

// expires returns the moment from which on the add-on counts as unavailable; zero if
// it never renewed the lease.
func (l Lease) expires(grace time.Duration) time.Time {
	if l.RenewTime == nil {
		return time.Time{}
	}
	return l.RenewTime.Add(grace)
}

func (in Input) followLease() Decision {
	switch in.Lease.State {
	case LeaseNotFound:
		return in.become(metav1.ConditionUnknown, ReasonLeaseNotFound, in.notFoundMessage())
	case LeaseFound:
		return in.followRenewals()
	default:
		return Decision{} // Available keeps its value
	}
}

func (in Input) followRenewals() Decision {
	expires := in.Lease.expires(in.GracePeriod)
	if !in.Now.Before(expires) {
		return in.become(metav1.ConditionFalse, ReasonLeaseStopped, in.AddOn+" add-on is not available.")
	}
	decision := in.become(metav1.ConditionTrue, ReasonLeaseUpdated, in.AddOn+" add-on is available.")
	decision.NextChange = expires
	if ahead := in.Lease.RenewTime.Sub(in.Now); ahead > in.GracePeriod {
		decision.Skew = ahead
	}
	return decision
}

func (in Input) notFoundMessage() string {
	message := fmt.Sprintf("The status of %s add-on is unknown.", in.AddOn)
	if in.HostingCluster == "" {
		return message
	}
	return fmt.Sprintf("%s No lease found on hosting cluster %q; verify it matches the cluster "+
		"where this managed cluster's klusterlet actually runs.", message, in.HostingCluster)
}

// aboutLease reports whether the reason follows from a lease.
func aboutLease(reason string) bool {
	return reason == ReasonLeaseUpdated || reason == ReasonLeaseStopped || reason == ReasonLeaseNotFound
}
