// Package gitops tests deploy/gitops: the health checks for Argo CD with the Lua libraries
// that Argo CD opens, and those for Flux with Flux's own evaluator, on conditions that
// Interlock writes, and on objects that OCM and Interlock wrote: those in testdata. It is a
// module of its own, because Interlock's own module uses neither.
package gitops
