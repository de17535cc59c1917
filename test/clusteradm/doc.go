// Package clusteradm is a separate Go module that builds OCM's command-line tool. The tool requires other versions of
// OCM's API and of Kubernetes' libraries than the OCM of test/ocm.
package clusteradm
