// Package ocm is a Go module of its own: it builds Open Cluster Management
// (OCM) from its Go module, so that neither its dependencies nor their versions
// reach Interlock's own go.mod. The programs are tools of go.mod.
//
// OCM, its API and its libraries are the versions that OCM's own go.mod names.
// Kubernetes and some others are newer: they are the versions of
// test/controlplane and of Interlock, so that they are compiled once.
package ocm
