// Package ocm is a separate Go module that builds Open Cluster Management (OCM) from its Go module. So neither its
// dependencies nor their versions reach Interlock's own go.mod. The programs are tools of go.mod.
//
// OCM, its API and its libraries have the versions of OCM's own go.mod. Kubernetes and some others are newer: they
// have the versions of test/controlplane and of Interlock, so that they are compiled once.
package ocm
