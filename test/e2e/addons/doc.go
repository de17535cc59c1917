// Package addons is a Go module of its own: it builds managed-serviceaccount,
// a real add-on, from its own module, so that what it depends on does not reach
// Interlock's go.mod.
package addons
