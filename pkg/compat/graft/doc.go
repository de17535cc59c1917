// Package graft adds Interlock's fields to OCM's CRD of
// ClusterManagementAddOns, and points the CRD to a conversion that keeps them.
// It restores both after another writer overwrites them, and gives the CRD back
// when the conversion is no longer served. Package crdgraft computes the CRD;
// this package decides when to write it. See docs/decisions/crd-grafting.md.
//
// The package is needed until OCM's CRD of ClusterManagementAddOns has
// spec.dependencies, with all fields of Interlock, in every version that is
// served or stored. On such a hub it gives the CRD back by itself (reason
// CRDHasFields). The package can be deleted once no supported OCM lacks the
// field. `addon-manager uninstall` must give back grafts for one more release.
package graft
