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

// LeaseState says whether a lease exists.
type LeaseState int

const (
	// LeaseUnobserved means that the API server has not responded yet.
	LeaseUnobserved LeaseState = iota
	// LeaseNotFound means that there is no lease.
	LeaseNotFound
	// LeaseFound means that there is a lease.
	LeaseFound
)

// Lease is the observed state of an add-on's lease.
type Lease struct {
	State LeaseState
	// RenewTime is when the add-on last renewed it. It is nil if it never did.
	RenewTime *time.Time
}

// expires returns the time from which on the add-on counts as unavailable. It is zero if the add-on never renewed the lease.
func (l Lease) expires(grace time.Duration) time.Time {
	if l.RenewTime == nil {
		return time.Time{}
	}
	return l.RenewTime.Add(grace)
}

func (input Input) followLease() Decision {
	switch input.Lease.State {
	case LeaseNotFound:
		return input.become(metav1.ConditionUnknown, ReasonLeaseNotFound, input.notFoundMessage())
	case LeaseFound:
		return input.followRenewals()
	default:
		return Decision{} // Available keeps its value
	}
}

func (input Input) followRenewals() Decision {
	expires := input.Lease.expires(input.GracePeriod)
	if !input.Now.Before(expires) {
		return input.become(metav1.ConditionFalse, ReasonLeaseStopped, input.AddOn+" add-on is not available.")
	}
	decision := input.become(metav1.ConditionTrue, ReasonLeaseUpdated, input.AddOn+" add-on is available.")
	decision.NextChange = expires
	if ahead := input.Lease.RenewTime.Sub(input.Now); ahead > input.GracePeriod {
		decision.Skew = ahead
	}
	return decision
}

func (input Input) notFoundMessage() string {
	message := fmt.Sprintf("The status of %s add-on is unknown.", input.AddOn)
	if input.HostingCluster == "" {
		return message
	}
	return fmt.Sprintf("%s No lease found on hosting cluster %q; verify it matches the cluster "+
		"where this managed cluster's klusterlet actually runs.", message, input.HostingCluster)
}

// aboutLease reports whether the reason follows from a lease.
func aboutLease(reason string) bool {
	return reason == ReasonLeaseUpdated || reason == ReasonLeaseStopped || reason == ReasonLeaseNotFound
}
