package addonevents

import "open-cluster-management.io/interlock/pkg/availability"

// The reasons of events that are not reasons of Available.
const (
	// ReasonContested means that another writer keeps overwriting Available.
	ReasonContested = "AvailableContested"
	// ReasonLeaseSkew means that the add-on's lease was renewed further in the future
	// than the grace period is long.
	ReasonLeaseSkew = "LeaseRenewedInFuture"
)

// Reasons lists the reason of every event of addon-agent. All events are on a
// ManagedClusterAddOn. The event of a change of Available has its reason and message. A
// change to True, or one that only follows from Degraded, has no event.
var Reasons = []string{
	availability.ReasonLeaseStopped,
	availability.ReasonLeaseNotFound,
	availability.ReasonAwaitingHealthCheck,
	ReasonContested,
	ReasonLeaseSkew,
}
