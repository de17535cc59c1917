//go:build linux

package main

import (
	"fmt"
	"path/filepath"
)

const (
	// nodeCommand is the argument with which realnode calls itself inside the namespaces.
	nodeCommand = "node-init"
	// uplink is the node's end of the veth pair.
	uplink = "uplink"
	// pluginsDir is where Debian keeps the CNI plugins.
	pluginsDir = "/usr/lib/cni"
)

// binaries are the programs of a node that Interlock builds.
var binaries = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"}

// spec has all differences between the two nodes.
type spec struct {
	Name string
	// Bin and State are absolute. State has kubeconfigs, certificates and logs.
	Bin, State string
	// Number selects the node's networks: pods in 10.81.Number.0/24, Services in 10.91.Number.0/24, the veth pair in
	// 10.80.0.0/24.
	Number, Peer int
}

// Address returns the address of the node: the bridge to which its pods are attached.
func (s spec) Address() string { return fmt.Sprintf("10.81.%d.1", s.Number) }

func (s spec) Pods() string     { return fmt.Sprintf("10.81.%d.0/24", s.Number) }
func (s spec) Services() string { return fmt.Sprintf("10.91.%d.0/24", s.Number) }

// FirstService returns the address of the Service `kubernetes`.
func (s spec) FirstService() string { return fmt.Sprintf("10.91.%d.1", s.Number) }

func (s spec) Uplink() string         { return fmt.Sprintf("10.80.0.%d", s.Number) }
func (s spec) PeerUplink() string     { return fmt.Sprintf("10.80.0.%d", s.Peer) }
func (s spec) PeerPods() string       { return fmt.Sprintf("10.81.%d.0/24", s.Peer) }
func (s spec) Server() string         { return fmt.Sprintf("https://%s:6443", s.Address()) }
func (s spec) Kubeconfig() string     { return s.file("admin.kubeconfig") }
func (s spec) file(n string) string   { return filepath.Join(s.State, n) }
func (s spec) binary(n string) string { return filepath.Join(s.Bin, n) }
