//go:build linux

package main

import (
	"fmt"
	"strings"
)

// uplinkTraffic is all traffic of the uplink: from and to the node itself and, forwarded, from and to its pods.
var uplinkTraffic = []string{"INPUT -i", "OUTPUT -o", "FORWARD -i", "FORWARD -o"}

// cutCommand returns a shell command that cuts the node off from the other one, like a broken cable: packets are
// lost, and connections are not closed.
func (n *node) cutCommand() string { return n.filter("-I") }

// restoreCommand returns a shell command that undoes cutCommand.
func (n *node) restoreCommand() string { return n.filter("-D") }

// filter also enters the mounts, because they contain the lock that the node's kube-proxy takes before it changes the
// rules.
func (n *node) filter(action string) string {
	var commands []string
	for _, traffic := range uplinkTraffic {
		commands = append(commands, fmt.Sprintf("nsenter --target %d --net --mount -- iptables -w %s %s %s -j DROP", n.pid(), action, traffic, uplink))
	}
	return strings.Join(commands, " && ")
}
