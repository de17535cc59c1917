// Package addons is a Go module of its own: it builds cluster-proxy and
// managed-serviceaccount, real add-ons, from their own modules, so that what they
// depend on does not reach Interlock's go.mod.
package addons
