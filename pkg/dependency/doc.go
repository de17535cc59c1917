// Package dependency decides what is true of an add-on's dependencies on one
// managed cluster, and what its Degraded condition is to say of it.
//
// It is pure: no client, no logger, no clock; the time comes in as a value.
// The rules are those of OCM's add-on dependency proposal. From the inputs to
// the condition:
//
//	ClusterManagementAddOns → Declare → NewCatalog (edges, dependents, cycles)
//	catalog + add-ons of one cluster → Catalog.Evaluate → one Finding per edge
//	findings + stored condition → Degraded → the condition to be stored
package dependency
