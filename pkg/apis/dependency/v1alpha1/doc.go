// Package v1alpha1 holds the APIs that are Interlock's own: what the hub requests of a
// managed cluster with what the agent there reports, and the report on its dependencies.
//
// +kubebuilder:object:generate=true
// +groupName=dependency.addon.open-cluster-management.io
package v1alpha1
