// Package ocm starts a hub and managed clusters of Open Cluster Management as processes: OCM's own programs beside
// real API servers, with OCM's CRDs, and each with OCM's own rights. The package simulates no part of OCM.
//
// It differs from an installation by OCM's operator in these points:
//   - The API server reaches webhooks by a URL on the loopback interface, and both
//     webhooks of a hub are served by one process. OCM's webhook for ManifestWorks
//     is left out.
//   - No kubelet runs: a Deployment that work's agent has applied gets no pods.
//   - One replica of each component, without leader election.
//
// With HubOptions.Operator, OCM's operator installs the hub and applies everything
// again every 5 seconds; webhooks are then reached by their Service, whose address
// is on the loopback interface (operator.go).
//
// The following periods can be shortened, as in OCM's own integration tests: the lease of a managed cluster
// (JoinOptions.LeaseDurationSeconds), and how often the registration agent reads the leases of add-ons and how long
// they are valid (JoinOptions.AddOnLeaseInterval, AddOnLeaseDurationSeconds). Flags of the agents
// (JoinOptions.RegistrationFlags, WorkFlags) set how often a managed cluster's health is reported
// (--cluster-healthcheck-period, 1 minute) and the state of applied objects (--status-sync-interval, 10 seconds). The
// resyncs of the add-on manager and of registration, of 10 and 30 minutes, cannot be shortened.
package ocm
