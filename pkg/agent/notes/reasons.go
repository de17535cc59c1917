package notes

import (
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/availability"
)

// The reasons of events that are not also reasons of Available.
const (
	// ReasonContested says that somebody else keeps overwriting Available.
	ReasonContested = "AvailableContested"
	// ReasonLeaseSkew says that a lease was renewed far in the future.
	ReasonLeaseSkew = "LeaseRenewedInFuture"
)

// Meaning maps the reason of every event of addon-agent to its meaning. All of
// them are on a ManagedClusterAddOn. When Available changes, the event has its
// reason and its message; there is none where that only follows from Degraded.
var Meaning = map[string]string{
	availability.ReasonLeaseStopped:        "Available became False: the add-on's lease was not renewed within the grace period, or never.",
	availability.ReasonLeaseNotFound:       "Available became Unknown: the add-on has no lease.",
	availability.ReasonAwaitingHealthCheck: "Available became Unknown: the dependencies are satisfied again, and the add-on's own health check has the next word.",
	ReasonContested:                        "Somebody else keeps overwriting Available.",
	ReasonLeaseSkew:                        "The add-on's lease was renewed further in the future than the grace period is long.",
}

// Reasons lists the reason of every event of addon-agent, sorted.
func Reasons() []string {
	return slices.Sorted(maps.Keys(Meaning))
}
