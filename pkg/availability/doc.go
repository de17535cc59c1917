// Package availability decides the condition Available of one add-on on one
// managed cluster: from its lease, as OCM's own registration agent does, and
// from its Degraded condition, as the add-on dependency proposal asks.
//
// It is pure: time comes in as a value, and nothing is read or written.
package availability
