// Package v1beta1 holds the Go types of OCM's add-on API in version v1beta1, with the fields that Interlock adds: for
// clients of v1beta1, such as add-ons that are built on addon-framework. Interlock itself uses v1alpha1.
//
// Declarations are the same in both versions, so this package has aliases of their types in v1alpha1. All other types are
// the api module's.
//
// +kubebuilder:object:generate=true
// +groupName=addon.open-cluster-management.io
package v1beta1
