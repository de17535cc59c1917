// Package controlplane is a Go module of its own: it builds kube-apiserver and
// etcd from their Go modules, so that neither their dependencies nor their
// replace directives reach Interlock's own go.mod.
package controlplane
