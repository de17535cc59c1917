package main

import (
	"github.com/spf13/cobra"
	"open-cluster-management.io/ocm/pkg/registration/spoke"
	"open-cluster-management.io/ocm/pkg/registration/spoke/addon"
)

// withPeriods adds flags for two variables that OCM exports for its own integration tests. Without the flags, the
// agent is the same as OCM's.
func withPeriods(agent *cobra.Command) *cobra.Command {
	flags := agent.Flags()
	flags.DurationVar(&spoke.AddOnLeaseControllerSyncInterval, "addon-lease-sync-interval", spoke.AddOnLeaseControllerSyncInterval,
		"How often the leases of all add-ons are read.")
	flags.IntVar(&addon.AddOnLeaseControllerLeaseDurationSeconds, "addon-lease-duration-seconds", addon.AddOnLeaseControllerLeaseDurationSeconds,
		"How often add-ons renew their leases. A lease that is five times as old is an add-on that has stopped.")
	return agent
}
