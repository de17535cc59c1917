package addonevents

import (
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/availability"
)

// The reasons of events that are not reasons of Available.
const (
	// ReasonContested is set when another writer keeps overwriting Available.
	ReasonContested = "AvailableContested"
	// ReasonLeaseSkew is set when a lease was renewed far in the future.
	ReasonLeaseSkew = "LeaseRenewedInFuture"
)

// Meaning maps the reason of every event of addon-agent to its meaning. All events
// are on a ManagedClusterAddOn. The event of a change of Available has its reason and
// message. A change that only follows from Degraded has no event.
var Meaning = map[string]string{
	availability.ReasonLeaseStopped:        "Available became False: the add-on's lease was not renewed within the grace period, or never.",
	availability.ReasonLeaseNotFound:       "Available became Unknown: the add-on has no lease.",
	availability.ReasonAwaitingHealthCheck: "Available became Unknown: the dependencies are satisfied again, and the add-on's own health check has not reported yet.",
	ReasonContested:                        "Another writer keeps overwriting Available.",
	ReasonLeaseSkew:                        "The add-on's lease was renewed further in the future than the grace period is long.",
}

// Reasons lists the reason of every event of addon-agent, sorted.
func Reasons() []string {
	return slices.Sorted(maps.Keys(Meaning))
}
