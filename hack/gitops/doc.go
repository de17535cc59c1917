// Package gitops tests deploy/gitops. It runs the health checks for Argo CD with the Lua
// libraries that Argo CD opens, and the health checks for Flux with Flux's own evaluator.
// Inputs are conditions that Interlock writes, and objects of OCM and Interlock in
// testdata. It is a module of its own, because Interlock's own module uses neither.
package gitops
