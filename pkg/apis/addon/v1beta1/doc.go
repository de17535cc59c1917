// Package v1beta1 holds the Go types of OCM's add-on API in version v1beta1, with the fields that Interlock adds: for
// clients of v1beta1, such as add-ons that are built on addon-framework. Interlock itself uses v1alpha1.
//
// What declares dependencies is the same in both versions. So its types are those of v1alpha1, and everything else is the
// api module's.
//
// +kubebuilder:object:generate=true
// +groupName=addon.open-cluster-management.io
package v1beta1
