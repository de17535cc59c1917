// Package gitops tests deploy/gitops: the health checks for Argo CD with the Lua libraries
// that Argo CD opens, and those for Flux with Flux's own evaluator, on conditions that
// Interlock writes. It is a module of its own, as neither is of use to Interlock's.
package gitops
