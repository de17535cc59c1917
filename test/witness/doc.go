// Package witness observes a hub while a test runs, and finds forbidden changes. It reads every state of
// ManagedClusterAddOns, ClusterManagementAddOns and ManagedClusters from watches, and every request that writes from
// the API server's audit log. The resourceVersion joins the two: it names the state that a request stored.
//
// A test declares its steps: it calls Cause before it changes an input, and Removed before it removes a declaration
// or an add-on. Every other move is a finding. The package needs no test framework.
package witness
