// Package v1alpha1 holds the one API that is Interlock's own: what the hub
// requests of a managed cluster, and what the agent there reports.
//
// +kubebuilder:object:generate=true
// +groupName=dependency.addon.open-cluster-management.io
package v1alpha1
