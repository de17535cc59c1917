// Package witness observes a hub while a test runs, and finds what Interlock
// must never do there. It reads every state of ManagedClusterAddOns,
// ClusterManagementAddOns and ManagedClusters from watches, and every request
// that writes from the API server's audit log. The resourceVersion joins the
// two: it names the state that a request stored.
//
// A test declares what it does: Cause before it changes an input, Removed before
// it takes a declaration or an add-on away. Everything else that moves is
// a finding. The package needs no test framework.
package witness
