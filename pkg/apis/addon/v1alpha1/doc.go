// Package v1alpha1 holds the Go types of OCM's add-on API with the field that
// the add-on dependency proposal adds: spec.dependencies of a
// ClusterManagementAddOn.
//
// Group, version and kind are OCM's own (addon.open-cluster-management.io,
// v1alpha1), because the released api module lacks the field. Everything else
// is the api module's type, embedded or aliased, so that a newer OCM's fields
// arrive by bumping that module.
//
// +kubebuilder:object:generate=true
// +groupName=addon.open-cluster-management.io
package v1alpha1
