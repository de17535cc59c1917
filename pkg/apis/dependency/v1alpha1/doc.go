// Package v1alpha1 holds the APIs that are Interlock's own: facts that the hub requests of a managed cluster and its
// agent reports, reports on dependencies, policies that override declarations, and installations by Interlock.
//
// +kubebuilder:object:generate=true
// +groupName=dependency.addon.open-cluster-management.io
package v1alpha1
