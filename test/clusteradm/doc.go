// Package clusteradm is a Go module of its own: it builds OCM's command-line
// tool, which requires other versions of OCM's API and of Kubernetes' libraries
// than the OCM of test/ocm.
package clusteradm
