// Package kind is a Go module of its own: it builds kind, and of kind's node image
// what does not come from Debian's packages or from Kubernetes.
package kind
