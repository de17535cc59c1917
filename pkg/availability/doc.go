// Package availability decides the condition Available of one add-on on one
// managed cluster: from its lease, as OCM's own registration agent does, and
// from its Degraded condition, as the add-on dependency proposal requires.
//
// It is pure: time is an input, and nothing is read or written.
package availability
