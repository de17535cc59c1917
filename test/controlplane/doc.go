// Package controlplane is a separate Go module that builds kube-apiserver and etcd from their Go modules. So neither
// their dependencies nor their replace directives reach Interlock's own go.mod.
package controlplane
