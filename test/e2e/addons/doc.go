// Package addons is a separate Go module that builds cluster-proxy and managed-serviceaccount, real add-ons, from
// their own modules. So their dependencies do not reach Interlock's go.mod.
package addons
